package dev.hapax.examples;

import dev.hapax.gateway.StartException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** The ports of a demo: the one that was asked for, and beside it, if that is free, the one for health and metrics. */
record DemoPorts(int gateway, int admin) {

    /** @throws StartException when the port is taken */
    static DemoPorts choose(int port) {
        if (port != 0 && !isFree(port)) {
            throw new StartException(
                    "port %d is in use, perhaps by another demo; stop that, or choose another port with --port %d"
                            .formatted(port, other(port)),
                    null);
        }
        return new DemoPorts(port, port != 0 && port < 65_535 && isFree(port + 1) ? port + 1 : 0);
    }

    static InetSocketAddress loopback(int port) throws IOException {
        return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    }

    private static int other(int port) {
        return port + 10 > 65_535 ? port - 10 : port + 10;
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(loopback(port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
