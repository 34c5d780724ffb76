package dev.hapax.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.hapax.gateway.HapaxCommand;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./hapax gateway} as a process, in front of a service that takes its time. */
class GatewayProgramIT {
    /** Over HTTP/2 the JDK's client gives up on requests that are in flight when a server says goodbye. */
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private HttpServer service;

    @TempDir
    Path directory;

    @BeforeEach
    void startService() throws IOException {
        service = HttpServer.create(DemoPorts.loopback(0), 0);
        service.createContext("/", this::serve);
        service.start();
    }

    @AfterEach
    void stopService() {
        mayEnd.countDown();
        service.stop(0);
    }

    @Test
    void aStopFinishesWhatIsInFlight() throws Exception {
        try (Program gateway = start()) {
            CompletableFuture<HttpResponse<String>> slow = charge(gateway.awaitPrinted("listening +(http://\\S+)"));
            assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();

            gateway.signal("TERM");
            gateway.awaitPrinted("Stopping. What is in flight has 30s");
            mayEnd.countDown();

            assertThat(slow.join().statusCode()).isEqualTo(201);
            assertThat(gateway.awaitExit()).isZero();
            assertThat(gateway.printed()).doesNotContain("\tat ");
        }
    }

    @Test
    void aSecondSignalStopsItAtOnce() throws Exception {
        try (Program gateway = start()) {
            CompletableFuture<HttpResponse<String>> slow = charge(gateway.awaitPrinted("listening +(http://\\S+)"));
            assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();

            gateway.signal("TERM");
            gateway.awaitPrinted("Stopping");
            gateway.signal("TERM");

            assertThat(gateway.awaitExit()).isEqualTo(130);
            assertThat(slow).failsWithin(Duration.ofMinutes(1));
        }
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            begun.countDown();
            mayEnd.await();
            exchange.sendResponseHeaders(201, -1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Program start() throws Exception {
        return Program.start(
                HapaxCommand.class,
                "gateway",
                "--upstream=http://127.0.0.1:" + service.getAddress().getPort(),
                "--listen=127.0.0.1:0",
                "--admin=off",
                "--store=embedded",
                "--set=store.data=" + directory.resolve("postgres"),
                "--set=routes.0.match=POST /v1/charges");
    }

    private CompletableFuture<HttpResponse<String>> charge(String url) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/v1/charges"))
                .header("Idempotency-Key", "\"k\"")
                .POST(HttpRequest.BodyPublishers.ofString("{\"amount\":1}"))
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }
}
