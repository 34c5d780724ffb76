package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Free ports of the loopback address.
 *
 * <p>They come from below the range that systems give to outgoing connections. In that range, a client that retries
 * while the server is down could be given the server's own port, and so keep the server from coming back.
 */
final class Ports {

    private static final int LOWEST = 20_000;
    private static final int HIGHEST = 32_000;
    private static final int ATTEMPTS = 100;

    private Ports() {}

    static int anyFree() {
        return ThreadLocalRandom.current()
                .ints(ATTEMPTS, LOWEST, HIGHEST)
                .filter(Ports::isFree)
                .findFirst()
                .orElseThrow(() -> new EmbeddedPostgresException(
                        Reason.PORT_IN_USE, "No free port found between " + LOWEST + " and " + HIGHEST));
    }

    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
