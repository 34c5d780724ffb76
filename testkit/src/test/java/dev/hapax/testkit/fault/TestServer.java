package dev.hapax.testkit.fault;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** A server for the proxy to stand in front of: one that echoes bytes, or one that executes lines and answers them. */
final class TestServer implements AutoCloseable {

    private final List<String> arrived = new CopyOnWriteArrayList<>();
    private final List<String> executed = new CopyOnWriteArrayList<>();
    private final ServerSocket listener;
    private volatile CountDownLatch mayExecute = new CountDownLatch(0);
    private Thread acceptor;
    private String early = "";

    private interface Session {
        void serve(Socket socket) throws IOException, InterruptedException;
    }

    private TestServer() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    static TestServer echoing() throws IOException {
        TestServer server = new TestServer();
        server.start(socket -> socket.getInputStream().transferTo(socket.getOutputStream()));
        return server;
    }

    static TestServer executing() throws IOException {
        TestServer server = new TestServer();
        server.start(server::execute);
        return server;
    }

    /** Begins to answer before the work is done, as a database does with a long batch. */
    static TestServer answeringEarly() throws IOException {
        TestServer server = new TestServer();
        server.early = ".";
        server.start(server::execute);
        return server;
    }

    int port() {
        return listener.getLocalPort();
    }

    List<String> executed() {
        return List.copyOf(executed);
    }

    List<String> arrived() {
        return List.copyOf(arrived);
    }

    /** Lets requests wait, unexecuted and unanswered, until the latch opens. */
    void holdUntil(CountDownLatch latch) {
        mayExecute = latch;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        listener.close();
        // A thread still inside accept() keeps the port open a little longer than the close.
        acceptor.join();
    }

    private void execute(Socket socket) throws IOException, InterruptedException {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            arrived.add(line);
            socket.getOutputStream().write(early.getBytes(StandardCharsets.US_ASCII));
            mayExecute.await();
            executed.add(line);
            socket.getOutputStream().write(("done " + line + "\n").getBytes(StandardCharsets.US_ASCII));
        }
    }

    private void start(Session session) {
        acceptor = daemon(() -> {
            while (!listener.isClosed()) {
                try {
                    Socket socket = listener.accept();
                    daemon(() -> serve(session, socket));
                } catch (IOException closed) {
                    return;
                }
            }
        });
    }

    private static void serve(Session session, Socket socket) {
        try (socket) {
            session.serve(socket);
        } catch (IOException | InterruptedException broken) {
            // The client's end of it is what the tests look at.
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "test-server");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
