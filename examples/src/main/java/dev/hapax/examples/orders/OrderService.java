package dev.hapax.examples.orders;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.postgres.PostgresTransactions;
import dev.hapax.postgres.outbox.Outbox;
import dev.hapax.store.StoreException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;

/**
 * Takes charges over HTTP. The order, the record that the key was used, and the message to the mail service commit in
 * one transaction: there is all of it, once, or nothing. Safe for use by many threads.
 */
final class OrderService implements AutoCloseable {
    private static final String SCOPE = "charges";
    private static final String PATH = "/charges";
    private static final int LARGEST_BODY = 1 << 16;
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Of so many orders, one is placed and its answer lost on the way. */
    private static final int ANSWER_LOST = 5;

    private static final String INSERT =
            "INSERT INTO orders (reference, customer, amount) VALUES (?, ?, ?) RETURNING id";

    private final Outbox outbox = Outbox.standard();
    private final Hapax hapax;
    private final PostgresTransactions transactions;
    private final Runnable appended;
    private final Tally tally;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "order-service");
        thread.setDaemon(true);
        return thread;
    });

    private OrderService(DataSource dataSource, Runnable appended, Tally tally) throws IOException {
        this.hapax = Hapax.on(PostgresStore.over(dataSource))
                .scope(SCOPE, Policy.payment())
                .build();
        this.transactions = PostgresTransactions.over(dataSource);
        this.appended = appended;
        this.tally = tally;
        this.server =
                HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0), 0);
    }

    /**
     * Listens on the loopback address, on any free port.
     *
     * @param appended told when there is something in the outbox
     */
    static OrderService start(DataSource dataSource, Runnable appended, Tally tally) throws IOException {
        OrderService service = new OrderService(dataSource, appended, tally);
        service.server.setExecutor(service.threads);
        service.server.createContext(PATH, service::handle);
        service.server.start();
        return service;
    }

    URI charges() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + PATH);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            answer(exchange);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY);
        try {
            if (!exchange.getRequestMethod().equals("POST") || key == null) {
                throw new IllegalArgumentException("POST a charge, with an Idempotency-Key");
            }
            answer(exchange, charge(key, body));
        } catch (JsonProcessingException | IllegalArgumentException refused) {
            send(exchange, 400, String.valueOf(refused.getMessage()));
        } catch (StoreException unavailable) {
            send(exchange, 503, "try again");
        } catch (Exception broken) {
            send(exchange, 500, "try again");
        }
    }

    private Outcome<String> charge(String key, byte[] body) throws Exception {
        Charge charge = JSON.readValue(body, Charge.class);
        Outcome<String> outcome = transactions.call((connection, transaction) -> hapax.transactional(transaction)
                .scope(SCOPE)
                .key(key)
                .fingerprint(body)
                .returning(String.class)
                .run(lease -> place(connection, key, charge)));
        appended.run();
        return outcome;
    }

    private String place(Connection connection, String reference, Charge charge) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, reference); // reference
            insert.setString(2, charge.customer()); // customer
            insert.setLong(3, charge.amount()); // amount
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                Order order = new Order(row.getLong("id"), reference, charge.customer(), charge.amount());
                outbox.append(
                        connection,
                        OutboxMessage.to(Servers.QUEUE, order.bytes())
                                .aggregate("order-" + order.id())
                                .header("content-type", "application/json"));
                return order.json();
            }
        }
    }

    private void answer(HttpExchange exchange, Outcome<String> outcome) throws IOException {
        if (outcome instanceof Outcome.Executed<String> executed) {
            tally.executed.increment();
            if (tally.executed.sum() % ANSWER_LOST == 0) {
                tally.answersLost.increment();
                return; // the exchange is closed without a word
            }
            send(exchange, 201, executed.value());
        } else if (outcome instanceof Outcome.Replayed<String> replayed) {
            tally.replayed.increment();
            exchange.getResponseHeaders().set("Idempotent-Replayed", "true");
            send(exchange, 201, replayed.value());
        } else if (outcome instanceof Outcome.Mismatched) {
            send(exchange, 422, "this key was used for another charge");
        } else {
            tally.sentAway.increment();
            exchange.getResponseHeaders().set("Retry-After", "1");
            send(exchange, 409, "a request with this key is being handled");
        }
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        hapax.close();
    }

    record Charge(String customer, long amount) {
        Charge {
            if (customer == null || amount < 1) {
                throw new IllegalArgumentException("a charge has a customer and an amount of at least 1 cent");
            }
        }
    }
}
