package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.gateway.proxy.GatewaySettings.Pool;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.WhenAbandoned;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a gateway stops. */
class StopTest {
    private static final Policy PARKING = Policy.defaults().whenAbandoned(WhenAbandoned.PARK);
    private static final Duration LONG = Duration.ofMinutes(2);

    private final MemoryStore store = new MemoryStore();
    private final Semaphore mayAnswer = new Semaphore(0);
    private final RawUpstream upstream = RawUpstream.start(connection -> {
        while (connection.read().isPresent()) {
            mayAnswer.acquire();
            connection.send(response("201 Created", "done"));
        }
    });

    @AfterEach
    void close() throws IOException {
        upstream.close();
    }

    private TestGateway.Builder gateway() {
        return TestGateway.before(upstream.uri()).store(store);
    }

    private void awaitUpstreamBusy(int requests) {
        await().until(() -> upstream.requests().size() == requests);
    }

    /** What a retry gets from another gateway on the same store, once this one is gone. */
    private Message afterwards(String key) throws IOException {
        mayAnswer.release(1000);
        try (TestGateway another = gateway().start();
                RawClient client = new RawClient(another)) {
            return client.charge(key).read();
        }
    }

    @Test
    void whatIsInFlightIsFinishedAndNothingElseIsTaken() throws Exception {
        TestGateway gateway = gateway().grace(LONG).start();
        try (RawClient idle = new RawClient(gateway);
                RawClient client = new RawClient(gateway)) {
            mayAnswer.release();
            assertThat(idle.charge("before").read().status()).isEqualTo(201);
            client.charge("k");
            awaitUpstreamBusy(2);

            CompletableFuture<Void> stopped = gateway.gateway().stop().toCompletableFuture();
            assertThat(idle.isClosed()).isTrue();
            await().untilAsserted(() ->
                    assertThatThrownBy(() -> new RawClient(gateway)).isInstanceOf(ConnectException.class));
            assertThat(stopped).isNotDone();
            mayAnswer.release();

            Message answer = client.read();
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.header("Connection")).isEqualTo("close");
            assertThat(client.isClosed()).isTrue();
            assertThat(stopped).succeedsWithin(Duration.ofSeconds(60));
        }
        assertThat(afterwards("k").header("Idempotent-Replayed")).isEqualTo("true");
    }

    @Test
    void http2RequestInFlightIsFinished() throws Exception {
        TestGateway gateway = gateway().grace(LONG).start();
        Vertx vertx = Vertx.vertx();
        HttpClient client = vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
        CompletableFuture<HttpClientResponse> answer = client.request(
                        HttpMethod.POST, gateway.port(), "127.0.0.1", TestGateway.CHARGES)
                .compose(request -> request.putHeader("Idempotency-Key", "k").send("{}"))
                .toCompletionStage()
                .toCompletableFuture();
        awaitUpstreamBusy(1);

        CompletableFuture<Void> stopped = gateway.gateway().stop().toCompletableFuture();
        await().during(Duration.ofMillis(200)).until(() -> !stopped.isDone() && !answer.isDone());
        mayAnswer.release();

        assertThat(answer).succeedsWithin(Duration.ofSeconds(60)).satisfies(response -> {
            assertThat(response.version()).isEqualTo(HttpVersion.HTTP_2);
            assertThat(response.statusCode()).isEqualTo(201);
        });
        assertThat(stopped).succeedsWithin(Duration.ofSeconds(60));
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void whatWasSentIsInDoubtWhenTheGraceTimeIsOver() throws Exception {
        TestGateway gateway = gateway().grace(Duration.ofMillis(300)).start();
        try (RawClient client = new RawClient(gateway)) {
            client.charge("k");
            awaitUpstreamBusy(1);

            gateway.gateway().stop().toCompletableFuture().join();

            Message answer = client.read();
            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.text()).contains("in-doubt");
        }
        assertThat(afterwards("k").text()).contains("in-doubt");
        assertThat(upstream.requests()).hasSize(1);
    }

    @Test
    void whatWasSentForAClientThatIsGoneIsInDoubtToo() throws Exception {
        TestGateway gateway = gateway().grace(Duration.ofMillis(300)).start();
        try (RawClient client = new RawClient(gateway)) {
            client.charge("k");
            awaitUpstreamBusy(1);
            client.reset();
        }

        gateway.gateway().stop().toCompletableFuture().join();

        assertThat(afterwards("k").text()).contains("in-doubt");
        assertThat(upstream.requests()).hasSize(1);
    }

    @Test
    void whatWasNotSentIsReleasedWhenTheGraceTimeIsOver() throws Exception {
        int loops = GatewayVertx.loops();
        TestGateway gateway = gateway()
                .pool(new Pool(loops, 100, LONG, Duration.ofSeconds(1)))
                .grace(Duration.ofMillis(500))
                .start();
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 4 * loops; i++) {
            clients.add(new RawClient(gateway).charge("k" + i));
        }
        await().until(() -> upstream.requests().size() == loops);

        gateway.gateway().stop().toCompletableFuture().join();

        int released = 0;
        for (int i = 0; i < clients.size(); i++) {
            Message answer = clients.get(i).read();
            clients.get(i).close();
            if (answer.status() == 503) {
                assertThat(answer.text()).contains("shutting-down");
                assertThat(afterwards("k" + i).status()).isEqualTo(201);
                released++;
            } else {
                assertThat(answer.text()).contains("in-doubt");
            }
        }
        assertThat(released).isEqualTo(clients.size() - loops);
    }

    @Test
    void whoWaitsForAnotherRequestIsTold() throws Exception {
        TestGateway gateway = gateway()
                .charges(PARKING.whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(5))))
                .grace(Duration.ofMillis(300))
                .start();
        try (RawClient first = new RawClient(gateway);
                RawClient second = new RawClient(gateway)) {
            first.charge("k");
            awaitUpstreamBusy(1);
            second.charge("k");

            gateway.gateway().stop().toCompletableFuture().join();

            assertThat(first.read().text()).contains("in-doubt");
            assertThat(second.read().status()).isIn(503, 409);
            assertThat(upstream.requests()).hasSize(1);
        }
    }

    @Test
    void whatIsNotProtectedIsCutOffWhenTheGraceTimeIsOver() throws Exception {
        TestGateway gateway = gateway().grace(Duration.ofMillis(300)).start();
        try (RawClient client = new RawClient(gateway)) {
            client.send("GET /notes HTTP/1.1\r\nHost: h\r\n\r\n");
            awaitUpstreamBusy(1);

            gateway.gateway().stop().toCompletableFuture().join();

            assertThat(client.read().text()).contains("shutting-down");
        }
    }

    @Test
    void stoppingTwiceIsStoppingOnce() {
        Gateway gateway = gateway().start().gateway();

        CompletableFuture<Void> first = gateway.stop().toCompletableFuture();
        CompletableFuture<Void> second = gateway.stop().toCompletableFuture();

        assertThat(first).succeedsWithin(Duration.ofSeconds(60));
        assertThat(second).succeedsWithin(Duration.ofSeconds(60));
    }

    @Test
    void portThatIsTakenIsAClearError() {
        TestGateway gateway = gateway().start();
        try (gateway) {
            assertThatThrownBy(() -> gateway().port(gateway.port()).start())
                    .hasRootCauseInstanceOf(BindException.class);
        }
    }
}
