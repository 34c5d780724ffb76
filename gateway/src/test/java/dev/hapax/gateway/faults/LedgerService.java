package dev.hapax.gateway.faults;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.concurrent.Executors;

/**
 * A service in a process of its own, which can be killed: it writes a line into a ledger for every charge it executes,
 * and answers a while later.
 */
final class LedgerService {
    private final FileChannel ledger;

    private LedgerService(FileChannel ledger) {
        this.ledger = ledger;
    }

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(args[0]);
        FileChannel ledger = FileChannel.open(Path.of(args[1]), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
        server.createContext("/v1/charges", new LedgerService(ledger)::charge);
        server.createContext("/", LedgerService::greet);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("ready");
    }

    private static void greet(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(204, -1);
        }
    }

    private void charge(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            ledger.write(ByteBuffer.wrap((key + "\n").getBytes(StandardCharsets.UTF_8)));
            Thread.sleep(Long.parseLong(exchange.getRequestHeaders().getFirst("Delay-Ms")));
            byte[] body = "{\"id\":\"ch_%s\"}".formatted(UUID.randomUUID()).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(201, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
