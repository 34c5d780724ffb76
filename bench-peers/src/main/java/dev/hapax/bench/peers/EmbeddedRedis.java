package dev.hapax.bench.peers;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A Redis on a free port of the loopback address, which ends with this process, however that ends.
 *
 * <p>A shell between the two reads a pipe that only this process holds open. At its end, which {@link #close} brings
 * about and so does a kill, the shell kills the server and removes its directory.
 */
final class EmbeddedRedis implements AutoCloseable {
    private static final String PROGRAM = "redis-server";
    private static final String VERSION = "7.0.15";
    private static final Duration START = Duration.ofSeconds(10);
    private static final Duration STOP = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(20);

    private static final String SUPERVISOR = """
            directory=$1
            shift
            cd "$directory" || exit 1
            "$@" </dev/null >redis.log 2>&1 &
            server=$!
            trap '' HUP INT TERM
            while read -r _; do :; done
            kill -s KILL "$server"
            wait "$server"
            cd / && rm -rf -- "$directory"
            """;

    private final Process supervisor;
    private final int port;

    private EmbeddedRedis(Process supervisor, int port) {
        this.supervisor = supervisor;
        this.port = port;
    }

    static EmbeddedRedis start() throws IOException, InterruptedException {
        Path directory = extract();
        int port = freePort();
        Process supervisor = new ProcessBuilder(List.of(
                        "/bin/sh",
                        "-c",
                        SUPERVISOR,
                        "hapax-redis",
                        directory.toString(),
                        directory.resolve(PROGRAM).toString(),
                        "--bind",
                        "127.0.0.1",
                        "--port",
                        String.valueOf(port),
                        "--save",
                        "",
                        "--appendonly",
                        "no"))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        EmbeddedRedis redis = new EmbeddedRedis(supervisor, port);
        if (!redis.answersWithin(START)) {
            Path log = directory.resolve("redis.log");
            String said = Files.exists(log) ? Files.readString(log) : "and said nothing";
            redis.close();
            throw new IOException("Redis did not start on port " + port + ":\n" + said);
        }
        return redis;
    }

    int port() {
        return port;
    }

    /** @return a new directory with nothing but the program in it */
    private static Path extract() throws IOException {
        String name = "%s-%s-%s-%s".formatted(PROGRAM, VERSION, system(), architecture());
        try (InputStream bytes = EmbeddedRedis.class.getResourceAsStream("/" + name)) {
            if (bytes == null) {
                throw new IOException("There is no " + name + " to run Redis with on this platform");
            }
            Path directory = Files.createTempDirectory("hapax-redis");
            Path program = directory.resolve(PROGRAM);
            Files.copy(bytes, program);
            if (!program.toFile().setExecutable(true)) {
                throw new IOException("Cannot make " + program + " executable");
            }
            return directory;
        }
    }

    private static String system() {
        return System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
    }

    private static String architecture() {
        return System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, loopback())) {
            return socket.getLocalPort();
        }
    }

    private static InetAddress loopback() throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    }

    private boolean answersWithin(Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!answers(port)) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            Thread.sleep(POLL.toMillis());
        }
        return true;
    }

    static boolean answers(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(loopback(), port), 1_000);
            socket.setSoTimeout(1_000);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(5), StandardCharsets.US_ASCII).equals("+PONG");
        } catch (IOException notYet) {
            return false;
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        supervisor.getOutputStream().close();
        if (!supervisor.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IOException("Redis did not stop");
        }
    }
}
