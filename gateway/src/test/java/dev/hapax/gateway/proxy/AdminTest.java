package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.memory.MemoryStore;
import dev.hapax.testkit.http.SwitchableStore;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Health and metrics. */
class AdminTest {
    private final HttpClient http = HttpClient.newHttpClient();
    private final SwitchableStore store = new SwitchableStore(new MemoryStore());

    private HttpResponse<String> get(TestGateway gateway, String path) throws Exception {
        return http.send(HttpRequest.newBuilder(gateway.admin(path)).build(), BodyHandlers.ofString());
    }

    @Test
    void readyWhileTheStoreAnswersAndLiveInAnyCase() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> response("201 Created", ""));
                TestGateway gateway =
                        TestGateway.before(upstream.uri()).store(store).start()) {
            assertThat(get(gateway, "/health/live").statusCode()).isEqualTo(200);
            assertThat(get(gateway, "/health/ready").statusCode()).isEqualTo(200);

            store.cut();

            HttpResponse<String> ready = get(gateway, "/health/ready");
            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).contains("\"reason\":\"the store cannot be reached\"");
            assertThat(get(gateway, "/health/live").statusCode()).isEqualTo(200);

            store.mend();
            assertThat(get(gateway, "/health/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void notReadyWhileItStops() throws Exception {
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    mayAnswer.await();
                    connection.send(response("201 Created", ""));
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .grace(Duration.ofMinutes(1))
                        .start();
                RawClient client = new RawClient(gateway)) {
            client.charge("k");
            await().until(() -> upstream.requests().size() == 1);
            CompletableFuture<Void> stopped = gateway.gateway().stop().toCompletableFuture();

            HttpResponse<String> ready = get(gateway, "/health/ready");
            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).contains("shutting down");
            assertThat(get(gateway, "/health/live").statusCode()).isEqualTo(200);
            mayAnswer.countDown();
            stopped.join();
        }
    }

    @Test
    void metricsTellWhatHappened() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    if (connection.read().orElseThrow().header("X-Hang-Up").isEmpty()) {
                        connection.send(response("201 Created", ""));
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.charge("k").read();
            client.charge("k").read();
            client.send("GET /notes HTTP/1.1\r\nHost: h\r\nX-Hang-Up: true\r\n\r\n")
                    .read();

            String metrics = get(gateway, "/metrics").body();

            assertThat(metrics)
                    .contains("hapax_operations_total{outcome=\"completed\",scope=\"charges\"} 1.0")
                    .contains("hapax_operations_total{outcome=\"replayed\",scope=\"charges\"} 1.0")
                    .contains("hapax_operation_duration_seconds_count{scope=\"charges\"} 1")
                    .contains("hapax_gateway_requests_seconds_count{status=\"2xx\"} 2")
                    .contains("hapax_gateway_requests_seconds_count{status=\"5xx\"} 1")
                    .contains("hapax_gateway_upstream_failures_total{kind=\"hung_up\"} 1.0")
                    .contains("hapax_gateway_connections 1.0")
                    .contains("hapax_gateway_in_flight 0.0")
                    .contains("jvm_memory_used_bytes");
        }
    }

    @Test
    void anythingElseIsNotThere() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> response("201 Created", ""));
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            assertThat(get(gateway, "/charges").statusCode()).isEqualTo(404);
            HttpResponse<String> posted = http.send(
                    HttpRequest.newBuilder(gateway.admin("/metrics"))
                            .POST(BodyPublishers.noBody())
                            .build(),
                    BodyHandlers.ofString());
            assertThat(posted.statusCode()).isEqualTo(405);
            assertThat(upstream.requests()).isEmpty();
        }
    }
}
