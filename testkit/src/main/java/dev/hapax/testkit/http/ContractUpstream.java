package dev.hapax.testkit.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves a {@link ContractApplication} on a port of 127.0.0.1, to stand behind a gateway. An execution counts as
 * guarded when the request carries a {@code Hapax-Operation-Id} that the suite did not forge.
 */
public final class ContractUpstream implements AutoCloseable {
    /** What hostile requests say in {@code Hapax-Operation-Id}. */
    static final String FORGED_ID = "00000000-0000-4000-8000-00000000f00d";

    private static final int PIECES = 7;

    private final ContractApplication application;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(ContractUpstream::daemon);

    private ContractUpstream(ContractApplication application, HttpServer server) {
        this.application = application;
        this.server = server;
    }

    /** @param port 0 for any */
    public static ContractUpstream start(ContractApplication application, int port) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
        ContractUpstream upstream = new ContractUpstream(application, HttpServer.create(address, 1024));
        upstream.server.setExecutor(upstream.threads);
        upstream.server.createContext("/", upstream::handle);
        upstream.server.start();
        return upstream;
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "contract-upstream");
        thread.setDaemon(true);
        return thread;
    }

    public URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String id = exchange.getRequestHeaders().getFirst("Hapax-Operation-Id");
            send(
                    exchange,
                    application.answer(new ContractRequest(
                            exchange.getRequestMethod(),
                            exchange.getRequestURI().toString(),
                            exchange.getRequestHeaders(),
                            body,
                            id != null && !id.equals(FORGED_ID))));
        } catch (HangUpException hangUp) {
            // closing the exchange without an answer cuts the connection
        }
    }

    private static void send(HttpExchange exchange, ContractResponse response) throws IOException {
        response.headers().forEach(header -> exchange.getResponseHeaders().add(header.getKey(), header.getValue()));
        byte[] body = response.body();
        if (body.length == 0 || exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(response.status(), -1);
            return;
        }
        exchange.sendResponseHeaders(response.status(), response.chunked() ? 0 : body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            int piece = response.chunked() ? body.length / PIECES + 1 : body.length;
            for (int from = 0; from < body.length; from += piece) {
                out.write(body, from, Math.min(piece, body.length - from));
                out.flush();
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
