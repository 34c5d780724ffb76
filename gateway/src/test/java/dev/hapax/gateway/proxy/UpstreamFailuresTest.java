package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.Policy;
import dev.hapax.gateway.proxy.GatewaySettings.Pool;
import dev.hapax.store.WhenAbandoned;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the gateway knows about the upstream decides what becomes of an operation. */
class UpstreamFailuresTest {
    private static final String CREATED = response("201 Created", "done");

    private static Message charge(TestGateway gateway, String key) throws IOException {
        try (RawClient client = new RawClient(gateway)) {
            return client.charge(key).read();
        }
    }

    private static void assertInDoubt(Message answer) {
        assertThat(answer.status()).as("%s", answer.text()).isEqualTo(409);
        assertThat(answer.text()).contains("urn:hapax:problem:in-doubt");
        assertThat(answer.header("Hapax-Operation-Id")).isNotEmpty();
    }

    /** Sends a charge twice to an upstream that serves its first connection like this, and every other one well. */
    private static void assertNeverSentAgainAfter(RawUpstream.Script first) throws IOException {
        AtomicInteger connections = new AtomicInteger();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    if (connections.getAndIncrement() == 0) {
                        connection.read();
                        first.serve(connection);
                    } else {
                        connection.read();
                        connection.send(CREATED);
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            assertInDoubt(charge(gateway, "k"));
            assertInDoubt(charge(gateway, "k"));
            assertThat(upstream.requests()).hasSize(1);
            assertThat(charge(gateway, "another").status()).isEqualTo(201);
        }
    }

    @Test
    void refusedConnectionReleasesAndARetryRuns() throws Exception {
        int port = RawUpstream.freePort();
        try (TestGateway gateway =
                TestGateway.before(URI.create("http://127.0.0.1:" + port)).start()) {
            Message refused = charge(gateway, "k");
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.text()).contains("urn:hapax:problem:upstream-unreachable");
            assertThat(refused.header("Retry-After")).isNotEmpty();
            assertThat(refused.header("Hapax-Operation-Id")).isNotEmpty();

            try (RawUpstream upstream = RawUpstream.start(port, connection -> {
                connection.read();
                connection.send(CREATED);
            })) {
                Message answer = charge(gateway, "k");

                assertThat(answer.status()).isEqualTo(201);
                assertThat(upstream.requests()).hasSize(1);
                assertThat(upstream.requests().get(0).header("Hapax-Attempt")).isEqualTo("1");
            }
        }
    }

    @Test
    void unknownHostReleases() throws Exception {
        try (TestGateway gateway =
                TestGateway.before(URI.create("http://nobody.invalid:9")).start()) {
            assertThat(charge(gateway, "k").status()).isEqualTo(503);
            assertThat(charge(gateway, "k").status()).isEqualTo(503);
        }
    }

    @Test
    void hangUpAfterTheWorkLeavesInDoubtAndNeverRunsAgain() throws Exception {
        assertNeverSentAgainAfter(RawUpstream.Connection::close);
    }

    @Test
    void resetAfterTheWorkLeavesInDoubtAndNeverRunsAgain() throws Exception {
        assertNeverSentAgainAfter(RawUpstream.Connection::reset);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 201 Created\r\nContent-Le",
                "HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nhalf",
                "HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n",
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n",
                "HTTP/1.1 100 Continue\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
                "nonsense\r\n\r\n"
            })
    void brokenResponseLeavesInDoubtAndNeverRunsAgain(String broken) throws Exception {
        assertNeverSentAgainAfter(connection -> {
            connection.send(broken);
            connection.close();
        });
    }

    @Test
    void slowHeadLeavesInDoubt() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    over.await();
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .responseTimeout(Duration.ofMillis(300))
                        .start()) {
            assertInDoubt(charge(gateway, "k"));
            assertInDoubt(charge(gateway, "k"));
            assertThat(upstream.requests()).hasSize(1);
        } finally {
            over.countDown();
        }
    }

    @Test
    void stalledBodyLeavesInDoubt() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nhalf");
                    over.await();
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .responseTimeout(Duration.ofMillis(300))
                        .start()) {
            assertInDoubt(charge(gateway, "k"));
            assertThat(upstream.requests()).hasSize(1);
        } finally {
            over.countDown();
        }
    }

    @Test
    void unknownOutcomeRunsAgainWhereThePolicySaysSo() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    if (requests.getAndIncrement() > 0) {
                        connection.send(CREATED);
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .charges(Policy.defaults().whenAbandoned(WhenAbandoned.RERUN))
                        .start()) {
            Message first = charge(gateway, "k");
            assertThat(first.status()).isEqualTo(502);
            assertThat(first.text()).contains("urn:hapax:problem:upstream-failed", "\"retryable\":true");

            assertThat(charge(gateway, "k").status()).isEqualTo(201);
        }
    }

    @Test
    void fullPoolReleases() throws Exception {
        int loops = GatewayVertx.loops();
        CountDownLatch over = new CountDownLatch(1);
        Queue<Message> answers = new ConcurrentLinkedQueue<>();
        ExecutorService clients = Executors.newCachedThreadPool();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    over.await();
                    connection.send(CREATED);
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .pool(new Pool(loops, 0, Duration.ofSeconds(30), Duration.ofSeconds(1)))
                        .start()) {
            int requests = 4 * loops;
            for (int i = 0; i < requests; i++) {
                String key = "k" + i;
                clients.submit(() -> answers.add(charge(gateway, key)));
            }
            await().until(() -> upstream.requests().size() + answers.size() == requests);

            assertThat(upstream.connections()).hasSizeLessThanOrEqualTo(loops);
            assertThat(answers).isNotEmpty().allMatch(answer -> answer.status() == 503);
            over.countDown();
            await().until(() -> answers.size() == requests);
            for (int i = 0; i < requests; i++) {
                assertThat(charge(gateway, "k" + i).status()).isEqualTo(201);
            }
            assertThat(upstream.requests()).hasSize(requests);
        } finally {
            over.countDown();
            clients.shutdownNow();
        }
    }

    @Test
    void connectionThatTheUpstreamClosedInTheMeantimeIsNotUsed() throws Exception {
        CountDownLatch close = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        AtomicInteger connections = new AtomicInteger();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    boolean first = connections.getAndIncrement() == 0;
                    connection.read();
                    connection.send(CREATED);
                    if (first) {
                        close.await();
                        connection.close();
                        closed.countDown();
                    } else {
                        connection.read();
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .pool(new Pool(16, 16, Duration.ofSeconds(5), Duration.ofMinutes(5)))
                        .start();
                RawClient client = new RawClient(gateway)) {
            assertThat(client.charge("one").read().status()).isEqualTo(201);
            assertThat(upstream.connected()).isEqualTo(1);
            close.countDown();
            closed.await();
            await().until(() -> upstream.connected() == 0);

            assertThat(client.charge("two").read().status()).isEqualTo(201);
        }
    }

    @Test
    void requestThatMeetsADyingConnectionIsInDoubtAndIsNotSentAgain() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send(CREATED);
                    connection.read(); // too late: this one was already going away
                    connection.reset();
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .pool(new Pool(16, 16, Duration.ofSeconds(5), Duration.ofMinutes(5)))
                        .start();
                RawClient client = new RawClient(gateway)) {
            assertThat(client.charge("one").read().status()).isEqualTo(201);

            assertInDoubt(client.charge("two").read());

            assertThat(upstream.requests()).hasSize(2);
            assertThat(upstream.connections()).hasSize(1);
        }
    }

    @Test
    void idleConnectionsAreClosedBeforeTheUpstreamWould() throws Exception {
        CountDownLatch closedByGateway = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    while (connection.read().isPresent()) {
                        connection.send(CREATED);
                    }
                    closedByGateway.countDown();
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            assertThat(charge(gateway, "k").status()).isEqualTo(201);

            assertThat(closedByGateway.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void connectionThatTheUpstreamWillCloseSoonIsNotKept() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    for (Optional<Message> next = connection.read(); next.isPresent(); next = connection.read()) {
                        connection.send(response("201 Created\r\nKeep-Alive: timeout=5", "done"));
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .pool(new Pool(16, 16, Duration.ofSeconds(5), Duration.ofSeconds(5)))
                        .start();
                RawClient client = new RawClient(gateway)) {
            for (int i = 0; i < 5; i++) {
                assertThat(client.charge("k" + i).read().status()).isEqualTo(201);
            }
            assertThat(upstream.connections()).hasSize(5);
        }
    }

    @Test
    void connectionsAreReused() throws Exception {
        try (RawUpstream upstream =
                        RawUpstream.answering(request -> response("201 Created\r\nKeep-Alive: timeout=5", "done"));
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            for (int i = 0; i < 20; i++) {
                assertThat(client.charge("k" + i).read().status()).isEqualTo(201);
            }
            assertThat(upstream.connections()).hasSize(1);
        }
    }

    @Test
    void upstreamThatTakesNothingIsCutOff() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message.readHead(connection.in());
                    over.await();
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .responseTimeout(Duration.ofMillis(500))
                        .start();
                RawClient client = new RawClient(gateway)) {
            client.send("PUT /large HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000\r\n\r\n");
            CompletableFuture<Void> upload = CompletableFuture.runAsync(() -> {
                try {
                    while (true) {
                        client.out().write(new byte[1 << 16]);
                    }
                } catch (IOException closed) {
                    return;
                }
            });

            assertThat(client.read().status()).isEqualTo(504);
            upload.join();
            await().until(() -> upstream.connected() == 0);
        } finally {
            over.countDown();
        }
    }

    @Test
    void informationalResponsesAreSkipped() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(request -> "HTTP/1.1 100 Continue\r\n\r\n"
                        + "HTTP/1.1 102 Processing\r\n\r\n"
                        + "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                        + "HTTP/1.1 199 Anything\r\nX: y\r\n\r\n"
                        + CREATED);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            Message first = client.charge("k").read();
            Message replay = client.charge("k").read();

            assertThat(first.status()).isEqualTo(201);
            assertThat(first.text()).isEqualTo("done");
            assertThat(replay.header("Idempotent-Replayed")).isEqualTo("true");
            assertThat(replay.text()).isEqualTo("done");
        }
    }

    @Test
    void responseThatEndsWithTheConnectionIsStored() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.0 201 Created\r\n\r\n" + "x".repeat(300_000));
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            assertThat(charge(gateway, "k").body()).hasSize(300_000);
            Message replay = charge(gateway, "k");

            assertThat(replay.header("Idempotent-Replayed")).isEqualTo("true");
            assertThat(replay.body()).hasSize(300_000);
            assertThat(upstream.requests()).hasSize(1);
        }
    }
}
