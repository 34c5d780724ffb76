package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.Policy;
import dev.hapax.store.WhenAbandoned;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests on protected routes, where the shared contract does not look. */
class ProtectedExchangeTest {
    private static final Policy PARKING = Policy.defaults().whenAbandoned(WhenAbandoned.PARK);
    private static final String CREATED = response("201 Created", "done");

    private static Message charge(TestGateway gateway, String key) throws IOException {
        try (RawClient client = new RawClient(gateway)) {
            return client.charge(key).read();
        }
    }

    @Test
    void upstreamIsToldOfTheOperation() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> CREATED);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            Message answer = client.send("POST /charges?a=%41 HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: k1\r\n"
                            + "Hapax-Attempt: 9\r\nHapax-Operation-Id: forged\r\nHapax-Other: x\r\nX-Mine: y\r\n"
                            + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
                    .read();

            Message request = upstream.requests().get(0);
            assertThat(request.line()).isEqualTo("POST /charges?a=%41 HTTP/1.1");
            assertThat(request.text()).isEqualTo("{}");
            assertThat(request.headers().all("Idempotency-Key")).containsExactly("\"k1\"");
            assertThat(request.headers().all("Hapax-Attempt")).containsExactly("1");
            assertThat(request.headers().all("Hapax-Operation-Id"))
                    .containsExactly(answer.header("Hapax-Operation-Id"));
            assertThat(request.headers().contains("Hapax-Other")).isFalse();
            assertThat(request.header("X-Mine")).isEqualTo("y");
            assertThat(request.header("Host")).isEqualTo("shop");
            assertThat(request.header("X-Forwarded-For")).isEqualTo("127.0.0.1");
            assertThat(request.headers().contains("Expect")).isFalse();
        }
    }

    @Test
    void clientThatGoesAwayWhileTheUpstreamWorksChangesNothing() throws Exception {
        CountDownLatch working = new CountDownLatch(1);
        Semaphore mayAnswer = new Semaphore(0);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    working.countDown();
                    mayAnswer.acquire();
                    connection.send(CREATED);
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            RawClient client = new RawClient(gateway).charge("k");
            working.await();
            client.reset();
            assertThat(charge(gateway, "k").status()).isEqualTo(409);
            mayAnswer.release();

            Message replay = await().until(() -> charge(gateway, "k"), answer -> answer.status() != 409);

            assertThat(replay.status()).isEqualTo(201);
            assertThat(replay.header("Idempotent-Replayed")).isEqualTo("true");
            assertThat(upstream.requests()).hasSize(1);
        }
    }

    @Test
    void clientThatGoesAwayInTheMiddleOfItsRequestRunsNothing() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> CREATED);
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            try (RawClient client = new RawClient(gateway)) {
                client.send(
                        "POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\nContent-Length: 100\r\n\r\nhalf");
                client.reset();
            }

            assertThat(charge(gateway, "k").status()).isEqualTo(201);
            assertThat(upstream.requests()).hasSize(1);
            assertThat(upstream.requests().get(0).text()).isEqualTo("{}");
        }
    }

    @Test
    void largeResponseIsRecordedBeforeItsRestIsPassedOn() throws Exception {
        Semaphore more = new Semaphore(0);
        String part = "x".repeat(5_000);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 201 Created\r\nContent-Length: 10000\r\n\r\n" + part);
                    more.acquire();
                    connection.send(part);
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .charges(PARKING.maxBody(1_000))
                        .start();
                RawClient client = new RawClient(gateway)) {
            Message head = client.charge("k").readHead();
            assertThat(head.status()).isEqualTo(201);
            assertThat(head.header("Content-Length")).isEqualTo("10000");
            assertThat(head.header("Hapax-Operation-Id")).isNotEmpty();
            assertThat(client.in().readNBytes(5_000)).hasSize(5_000);

            Message retry = charge(gateway, "k");
            assertThat(retry.status()).isEqualTo(409);
            assertThat(retry.text()).contains("response-not-stored");

            more.release();
            assertThat(client.in().readNBytes(5_000)).hasSize(5_000);
            assertThat(upstream.requests()).hasSize(1);
        }
    }

    @Test
    void eventsOfAProtectedRequestArriveAsTheyAreSent() throws Exception {
        Semaphore more = new Semaphore(0);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n");
                    for (int i = 0; i < 3; i++) {
                        connection.send("data: " + i + "\n\n");
                        more.acquire();
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            assertThat(client.charge("k").readHead().status()).isEqualTo(200);
            for (int i = 0; i < 3; i++) {
                assertThat(new String(Message.readChunk(client.in()), ISO_8859_1))
                        .isEqualTo("data: " + i + "\n\n");
                more.release();
            }
            assertThat(Message.readChunk(client.in())).isEmpty();
            assertThat(charge(gateway, "k").text()).contains("response-not-stored");
        }
    }

    /** The upstream has long closed when a slow client takes the last of it. */
    @ParameterizedTest
    @ValueSource(strings = {"one piece", "tiny chunks", "until closed"})
    void largeResponseIsWholeThoughTheUpstreamClosesAfterIt(String framing) throws Exception {
        int size = framing.equals("tiny chunks") ? 100_000 : 30_000_000;
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.out().write(largeResponse(framing, size));
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .charges(PARKING.maxBody(1_000))
                        .start();
                RawClient client = new RawClient(gateway)) {
            client.charge("k");
            await().until(() -> upstream.requests().size() == 1 && client.in().available() > 0);

            assertThat(client.read().body()).hasSize(size);
        }
    }

    /** What is held back must not be lost to the close that follows it. */
    @Test
    void responseThatIsHeldBackIsWholeThoughTheUpstreamClosesAfterIt() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    int chunks = Integer.parseInt(connection
                            .read()
                            .orElseThrow()
                            .header("Idempotency-Key")
                            .replace("\"", ""));
                    connection.send("HTTP/1.1 201 Created\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + "1\r\nx\r\n".repeat(chunks) + "0\r\n\r\n");
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .charges(PARKING.maxBody(5))
                        .start()) {
            for (int chunks = 1; chunks < 100; chunks++) {
                assertThat(charge(gateway, Integer.toString(chunks)).body()).hasSize(chunks);
            }
        }
    }

    private static byte[] largeResponse(String framing, int size) {
        String head = "HTTP/1.1 201 Created\r\nConnection: close\r\n";
        String text = switch (framing) {
            case "one piece" -> head + "Content-Length: " + size + "\r\n\r\n" + "x".repeat(size);
            case "tiny chunks" -> head + "Transfer-Encoding: chunked\r\n\r\n" + "1\r\nx\r\n".repeat(size) + "0\r\n\r\n";
            default -> head + "\r\n" + "x".repeat(size);
        };
        return text.getBytes(ISO_8859_1);
    }

    @Test
    void restThatBreaksOffIsNotMadeWhole() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 201 Created\r\nContent-Length: 10000\r\n\r\n" + "x".repeat(5_000));
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .charges(PARKING.maxBody(1_000))
                        .start();
                RawClient client = new RawClient(gateway)) {
            client.charge("k");

            assertThatThrownBy(client::read).isInstanceOf(IOException.class);
            assertThat(charge(gateway, "k").text()).contains("response-not-stored");
            assertThat(upstream.requests()).hasSize(1);
        }
    }

    @Test
    void clientThatLeavesALargeResponseBehindDoesNotKeepTheUpstreamWaiting() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 201 Created\r\n\r\n" + "x".repeat(5_000));
                    connection.read();
                    stopped.countDown();
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .charges(PARKING.maxBody(1_000))
                        .start();
                RawClient client = new RawClient(gateway)) {
            client.charge("k").readHead();
            client.reset();

            stopped.await();
            assertThat(charge(gateway, "k").text()).contains("response-not-stored");
        }
    }

    @Test
    void clientThatAsksFirstIsToldAtOnce() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> CREATED);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k\r\nExpect: 100-continue\r\n"
                    + "Content-Length: 2\r\n\r\n");
            assertThat(client.readHead().status()).isEqualTo(100);

            assertThat(client.send("{}").read().status()).isEqualTo(201);
            assertThat(upstream.requests().get(0).headers().contains("Expect")).isFalse();
        }
    }

    @Test
    void workThatTakesLongerThanItsClaimMayIsGivenUp() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch gaveUp = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.read();
                    gaveUp.countDown();
                });
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .charges(PARKING.lease(Duration.ofSeconds(1)).maxDuration(Duration.ofSeconds(1)))
                        .start()) {
            Message answer = charge(gateway, "k");

            gaveUp.await();
            assertThat(answer.status()).isEqualTo(409);
            Message retry = await().until(
                            () -> charge(gateway, "k"), next -> !next.text().contains("in-progress"));
            assertThat(retry.text()).contains("in-doubt");
            assertThat(upstream.requests()).hasSize(1);
        } finally {
            over.countDown();
        }
    }

    @Test
    void reservedPathsNeverReachTheUpstream() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> CREATED);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            String id = client.charge("k").read().header("Hapax-Operation-Id");
            Message status = client.send("GET /.hapax/operations/" + id + " HTTP/1.1\r\nHost: h\r\n\r\n")
                    .read();
            assertThat(status.status()).isEqualTo(200);
            for (String path : new String[] {
                "/.hapax", "/.hapax/", "/.hapax/x", "/.hapax/../charges", "/.hapax/operations/" + id + "/../x"
            }) {
                Message answer = client.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n")
                        .read();
                assertThat(answer.status()).as(path).isEqualTo(404);
            }
            Message posted = client.send(
                            "POST /.hapax/operations/" + id + " HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                    .read();
            assertThat(posted.status()).isEqualTo(405);
            assertThat(client.charge("k").read().header("Idempotent-Replayed")).isEqualTo("true");
            assertThat(upstream.requests()).hasSize(1);
        }
    }
}
