package dev.hapax.gateway.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Stream;

/** An upstream that does to its connections exactly what a test wants. */
final class RawUpstream implements AutoCloseable {
    /** What happens on a connection. When it returns, the connection is closed. */
    interface Script {
        void serve(Connection connection) throws Exception;
    }

    private final ServerSocket server;
    private final Script script;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "raw-upstream");
        thread.setDaemon(true);
        return thread;
    });
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final List<Message> requests = new CopyOnWriteArrayList<>();
    private final List<Connection> connections = new CopyOnWriteArrayList<>();

    private RawUpstream(int port, Script script) throws IOException {
        this.server = new ServerSocket(port, 1024, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        this.script = script;
        threads.execute(this::accept);
    }

    static RawUpstream start(Script script) {
        return start(0, script);
    }

    static RawUpstream start(int port, Script script) {
        try {
            return new RawUpstream(port, script);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Answers every request with what the function says, on connections that are kept. */
    static RawUpstream answering(Function<Message, String> response) {
        return start(connection -> {
            for (Optional<Message> request = connection.read(); request.isPresent(); request = connection.read()) {
                connection.send(response.apply(request.get()));
            }
        });
    }

    /** A response with a length. */
    static String response(String statusAndHeaders, String body) {
        return "HTTP/1.1 " + statusAndHeaders + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    }

    /** A port that nobody listens on, for now. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            return socket.getLocalPort();
        }
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort());
    }

    /** The requests that came in, in order. */
    List<Message> requests() {
        return List.copyOf(requests);
    }

    List<Connection> connections() {
        return List.copyOf(connections);
    }

    /** How many connections the gateway has open to here, as the kernel sees its end of them. */
    long connected() throws IOException {
        String open = ".*:%04X (01|08) .*".formatted(server.getLocalPort()); // ESTABLISHED, CLOSE_WAIT
        return Stream.of("/proc/net/tcp", "/proc/net/tcp6")
                .flatMap(table -> {
                    try {
                        return Files.readAllLines(Path.of(table)).stream();
                    } catch (IOException unreadable) {
                        throw new UncheckedIOException(unreadable);
                    }
                })
                .filter(line -> line.matches(open))
                .count();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                open.add(socket);
                threads.execute(() -> serve(socket));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            Connection connection = new Connection(socket);
            connections.add(connection);
            script.serve(connection);
        } catch (Exception broken) {
            return; // as a server whose client went away
        } finally {
            open.remove(socket);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : open) {
            socket.close();
        }
        threads.shutdownNow();
    }

    /** One connection of the gateway. */
    final class Connection {
        private final Socket socket;
        private final InputStream in;

        private Connection(Socket socket) throws IOException {
            this.socket = socket;
            this.in = new BufferedInputStream(socket.getInputStream());
        }

        /** The next request; empty when the gateway has closed. */
        Optional<Message> read() throws IOException {
            Optional<Message> request = Message.readRequest(in);
            request.ifPresent(requests::add);
            return request;
        }

        InputStream in() {
            return in;
        }

        OutputStream out() throws IOException {
            return socket.getOutputStream();
        }

        void send(String text) throws IOException {
            out().write(text.getBytes(ISO_8859_1));
            out().flush();
        }

        void close() throws IOException {
            socket.close();
        }

        /** Closes as a process does that dies. */
        void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }
}
