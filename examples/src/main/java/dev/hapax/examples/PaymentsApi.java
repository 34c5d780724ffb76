package dev.hapax.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A payments API that does what it is told as often as it is told: it does not know about retries, which is the point.
 * Its GETs list what was really executed, in order. Safe for use by many threads.
 *
 * <p>Request headers make it misbehave: {@code Demo-Delay-Ms} makes it slow, {@code Demo-Status} lets it answer with
 * another status, and {@code Demo-Hangup: true} lets it cut the connection after it has executed.
 */
public final class PaymentsApi implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LARGEST_BODY = 1 << 20;
    private static final Duration LONGEST_DELAY = Duration.ofMinutes(1);

    /** Answers that say: I did not do it. */
    private static final Set<Integer> NOT_EXECUTED = Set.of(401, 403, 408, 409, 425, 429, 503);

    private final HttpServer server;
    private final ExecutorService threads;
    private final Ledger ledger;

    private PaymentsApi(HttpServer server, ExecutorService threads, Ledger ledger) {
        this.server = server;
        this.threads = threads;
        this.ledger = ledger;
    }

    /**
     * Listens on the loopback address.
     *
     * @param port 0 for any that is free
     * @param executed the file that keeps what was executed
     */
    public static PaymentsApi start(int port, Path executed) throws IOException {
        HttpServer server = HttpServer.create(DemoPorts.loopback(port), 0);
        ExecutorService threads = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "payments");
            thread.setDaemon(true);
            return thread;
        });
        PaymentsApi api = new PaymentsApi(server, threads, Ledger.open(executed));
        server.setExecutor(threads);
        server.createContext("/", api::handle);
        server.start();
        return api;
    }

    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            route(exchange);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void route(HttpExchange exchange) throws IOException, InterruptedException {
        Optional<Resource> resource = Resource.at(exchange.getRequestURI().getPath());
        if (resource.isEmpty()) {
            refuse(exchange, 404, "there is nothing here; see POST and GET /v1/charges");
        } else if (exchange.getRequestMethod().equals("GET")) {
            answer(exchange, 200, ledger.list(resource.get().kind()));
        } else if (exchange.getRequestMethod().equals("POST")) {
            try {
                post(exchange, resource.get());
            } catch (BadRequestException e) {
                refuse(exchange, e.status, String.valueOf(e.getMessage()));
            }
        } else {
            exchange.getResponseHeaders().set("Allow", "GET, POST");
            refuse(exchange, 405, "GET and POST are possible here");
        }
    }

    private void post(HttpExchange exchange, Resource resource) throws IOException, InterruptedException {
        ObjectNode content = resource.checked(body(exchange));
        int status = number(exchange, "Demo-Status", 201, 200, 599);
        int delay = number(
                exchange, "Demo-Delay-Ms", (int) resource.usualDelay().toMillis(), 0, (int) LONGEST_DELAY.toMillis());
        Thread.sleep(delay);
        if (NOT_EXECUTED.contains(status)) {
            refuse(exchange, status, "asked to answer " + status + "; nothing was executed");
            return;
        }
        content.put("status", status < 400 ? "succeeded" : "failed");
        ObjectNode executed = ledger.add(resource.kind(), resource.prefix(), content);
        if (!"true".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Demo-Hangup"))) {
            answer(exchange, status, JSON.writeValueAsBytes(executed));
        }
    }

    private static ObjectNode body(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
        if (body.length > LARGEST_BODY) {
            throw new BadRequestException(413, "the body is larger than 1 MiB");
        }
        try {
            JsonNode read = JSON.readTree(body);
            if (read instanceof ObjectNode object) {
                return object;
            }
        } catch (JsonProcessingException e) {
            throw new BadRequestException(400, "the body is not JSON: " + e.getOriginalMessage());
        }
        throw new BadRequestException(400, "a JSON object is needed, such as {\"amount\":7998}");
    }

    private static int number(HttpExchange exchange, String header, int usual, int least, int most) {
        @Nullable String text = exchange.getRequestHeaders().getFirst(header);
        if (text == null) {
            return usual;
        }
        int number = text.matches("\\d{1,6}") ? Integer.parseInt(text) : -1;
        if (number < least || number > most) {
            throw new BadRequestException(400, "%s is a number from %d to %d".formatted(header, least, most));
        }
        return number;
    }

    private static void refuse(HttpExchange exchange, int status, String why) throws IOException {
        byte[] body = JSON.writeValueAsBytes(JSON.createObjectNode().put("error", why));
        answer(exchange, status, body);
    }

    private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
        boolean empty = status == 204 || status == 304;
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, empty ? -1 : body.length + 1L);
        if (!empty) {
            exchange.getResponseBody().write(body);
            exchange.getResponseBody().write("\n".getBytes(StandardCharsets.UTF_8));
        }
    }

    /** A request that is answered with what is wrong with it. */
    static final class BadRequestException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final int status;

        BadRequestException(int status, String why) {
            super(why);
            this.status = status;
        }
    }
}
