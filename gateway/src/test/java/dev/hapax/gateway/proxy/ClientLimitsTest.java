package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that send too much, too slowly, or too little. */
class ClientLimitsTest {
    private static final String OK = response("200 OK", "fine");
    private static final Duration SOON = Duration.ofMillis(400);

    private static Limits limits(Duration idle, Duration head, Duration body) {
        return new Limits(1_000, 500, 2_000, idle, head, body, 100);
    }

    private static final Limits SMALL = limits(Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1));

    private static TestGateway gateway(RawUpstream upstream, Limits limits) {
        return TestGateway.before(upstream.uri()).limits(limits).start();
    }

    private static RawUpstream upstream() {
        return RawUpstream.answering(any -> OK);
    }

    private static void assertTooLarge(Message answer) {
        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.text()).contains("urn:hapax:problem:request-too-large");
    }

    @Test
    void bodyThatSaysItIsTooLargeIsRefusedUnread() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, SMALL);
                RawClient client = new RawClient(gateway)) {
            assertTooLarge(client.send("POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\n"
                            + "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
                    .read());
            assertThat(client.isClosed()).isTrue();
            assertThat(upstream.requests()).isEmpty();
        }
    }

    @Test
    void bodyThatTurnsOutTooLargeIsRefusedAndTheAnswerArrives() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, SMALL)) {
            for (int i = 0; i < 20; i++) {
                try (RawClient client = RawClient.withSmallBuffers(gateway)) {
                    client.send("POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n"
                            + ("400\r\n" + "x".repeat(1024) + "\r\n").repeat(900) + "0\r\n\r\n");

                    assertTooLarge(client.read());
                    assertThat(client.isClosed()).isTrue();
                }
            }
            assertThat(upstream.requests()).isEmpty();
        }
    }

    @Test
    void refusedRequestWithASmallBodyLeavesTheConnectionUsable() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, SMALL);
                RawClient client = new RawClient(gateway)) {
            for (int i = 0; i < 10; i++) {
                client.send("POST /charges HTTP/1.1\r\nHost: h\r\nContent-Length: 1500\r\n\r\n" + "x".repeat(1500));
                assertTooLarge(client.read());
            }
            assertThat(client.charge("k").read().status()).isEqualTo(200);
        }
    }

    @Test
    void bodyOfExactlyTheLimitIsRead() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, SMALL);
                RawClient client = new RawClient(gateway)) {
            Message answer = client.send("POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\n"
                            + "Content-Length: 1000\r\n\r\n" + "x".repeat(1000))
                    .read();

            assertThat(answer.status()).isEqualTo(200);
        }
    }

    @Test
    void unprotectedBodyMayBeOfAnySize() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, SMALL);
                RawClient client = new RawClient(gateway)) {
            client.send("POST /notes HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n" + "x".repeat(300_000));

            assertThat(client.read().status()).isEqualTo(200);
            assertThat(upstream.requests().get(0).body()).hasSize(300_000);
        }
    }

    @Test
    void headThatIsTooLargeIsRefused() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, SMALL);
                RawClient longLine = new RawClient(gateway);
                RawClient largeHeaders = new RawClient(gateway)) {
            Message tooLong = longLine.send("GET /" + "x".repeat(600) + " HTTP/1.1\r\nHost: h\r\n\r\n")
                    .read();
            Message tooLarge = largeHeaders
                    .send("GET / HTTP/1.1\r\nHost: h\r\nX: " + "x".repeat(3_000) + "\r\n\r\n")
                    .read();

            assertThat(tooLong.status()).isEqualTo(414);
            assertThat(tooLong.text()).contains("urn:hapax:problem:target-too-long");
            assertThat(longLine.isClosed()).isTrue();
            assertThat(tooLarge.status()).isEqualTo(431);
            assertThat(tooLarge.text()).contains("urn:hapax:problem:headers-too-large");
            assertThat(largeHeaders.isClosed()).isTrue();
        }
    }

    @Test
    void slowBodyOfAProtectedRequestIsRefused() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, limits(Duration.ofMinutes(1), Duration.ofMinutes(1), SOON));
                RawClient client = new RawClient(gateway)) {
            client.send("POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\nContent-Length: 100\r\n\r\nhalf");

            Message answer = client.read();

            assertThat(answer.status()).isEqualTo(408);
            assertThat(answer.text()).contains("urn:hapax:problem:request-timeout");
            assertThat(client.isClosed()).isTrue();
            assertThat(upstream.requests()).isEmpty();
        }
    }

    @Test
    void bodyOfAProtectedRequestThatDribblesIsRefused() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, limits(Duration.ofMinutes(1), Duration.ofMinutes(1), SOON));
                RawClient client = new RawClient(gateway)) {
            client.send("POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\nContent-Length: 1000\r\n\r\n");
            dribbleUntilAnswered(client, "x");

            assertThat(client.read().status()).isEqualTo(408);
        }
    }

    private static void dribbleUntilAnswered(RawClient client, String drop) {
        await().pollInterval(Duration.ofMillis(50)).until(() -> {
            try {
                client.send(drop);
            } catch (IOException closed) {
                return true;
            }
            return client.in().available() > 0;
        });
    }

    @Test
    void stalledBodyOfAnUnprotectedRequestIsRefused() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message.readHead(connection.in());
                    connection.in().readAllBytes();
                    stopped.countDown();
                });
                TestGateway gateway = gateway(upstream, limits(Duration.ofMinutes(1), Duration.ofMinutes(1), SOON));
                RawClient client = new RawClient(gateway)) {
            client.send("POST /notes HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");

            assertThat(client.read().status()).isEqualTo(408);
            assertThat(client.isClosed()).isTrue();
            assertThat(stopped.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GET / HTTP/1.1\r\nHost: h\r\nX-Slow: "})
    void clientThatSendsNoWholeHeadIsCutOff(String beginning) throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, limits(Duration.ofMinutes(1), SOON, Duration.ofMinutes(1)));
                RawClient client = new RawClient(gateway)) {
            assertThat(client.send(beginning).isClosed()).isTrue();
        }
    }

    @Test
    void headThatDribblesIsCutOff() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, limits(Duration.ofMinutes(1), SOON, Duration.ofMinutes(1)));
                RawClient client = new RawClient(gateway)) {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n");

            dribbleUntilAnswered(client, "X: y\r\n");

            assertThat(client.isClosed()).isTrue();
            assertThat(upstream.requests()).isEmpty();
        }
    }

    @Test
    void idleConnectionIsClosed() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, limits(SOON, Duration.ofMinutes(1), Duration.ofMinutes(1)));
                RawClient client = new RawClient(gateway)) {
            for (int i = 0; i < 3; i++) {
                assertThat(client.charge("k" + i).read().status()).isEqualTo(200);
            }

            assertThat(client.isClosed()).isTrue();
        }
    }

    @Test
    void connectionWithARequestInFlightIsNotIdle() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    answer.await();
                    connection.send(OK);
                });
                TestGateway gateway = gateway(upstream, limits(SOON, SOON, SOON));
                RawClient client = new RawClient(gateway)) {
            client.charge("k");
            await().during(SOON.multipliedBy(3))
                    .atMost(SOON.multipliedBy(6))
                    .until(() -> client.in().available() == 0);
            answer.countDown();

            assertThat(client.read().status()).isEqualTo(200);
        }
    }

    @Test
    void clientThatTakesNothingIsCutOff() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\n\r\n");
                    byte[] much = new byte[1 << 16];
                    try {
                        while (true) {
                            connection.out().write(much);
                        }
                    } finally {
                        stopped.countDown();
                    }
                });
                TestGateway gateway = gateway(upstream, limits(Duration.ofMinutes(1), Duration.ofMinutes(1), SOON));
                RawClient client = new RawClient(gateway)) {
            client.send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n");

            assertThat(stopped.await(60, TimeUnit.SECONDS)).isTrue();
            await().until(() -> gateway.metric("hapax_gateway_connections") == 0);
        }
    }

    @Test
    void tooManyClientsAreTurnedAway() throws Exception {
        Limits three =
                new Limits(1_000, 500, 2_000, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1), 3);
        List<RawClient> clients = new ArrayList<>();
        try (RawUpstream upstream = upstream();
                TestGateway gateway = gateway(upstream, three)) {
            for (int i = 0; i < 3; i++) {
                clients.add(new RawClient(gateway));
                assertThat(clients.get(i).charge("k").read().status()).isEqualTo(200);
            }
            try (RawClient fourth = new RawClient(gateway)) {
                assertThat(fourth.isClosed()).isTrue();
            }
            clients.get(0).close();

            await().ignoreExceptions().until(() -> {
                try (RawClient again = new RawClient(gateway)) {
                    return again.charge("k").read().status() == 200;
                }
            });
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
    }
}
