package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.gateway.proxy.GatewaySettings.Forwarding;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is not protected passes as it is, in both directions. */
class PassThroughTest {
    private static final String OK = response("200 OK", "fine");

    private static Message forwarded(TestGateway.Builder builder, RawUpstream upstream, String request)
            throws IOException {
        try (TestGateway gateway = builder.start();
                RawClient client = new RawClient(gateway)) {
            assertThat(client.send(request).read().status()).isEqualTo(200);
            return upstream.requests().get(0);
        }
    }

    /** What the upstream gets when a client sends this. */
    private static Message forwarded(String request) throws IOException {
        try (RawUpstream upstream = RawUpstream.answering(any -> OK)) {
            return forwarded(TestGateway.before(upstream.uri()), upstream, request);
        }
    }

    /** What a client gets when the upstream answers a GET with this. */
    private static Message answered(String method, String response) throws IOException {
        try (RawUpstream upstream = RawUpstream.answering(any -> response);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send(method + " / HTTP/1.1\r\nHost: h\r\n\r\n");
            return method.equals("HEAD") ? client.readHead() : client.read();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/a//b/./../c;p=1/%2e%2E/%2f%5c",
                "/%zz%",
                "/?",
                "/a?b?c=%00&d=e+f&%C3%A4",
                "/?q=\"<>\\^`{|}[]",
                "/~user/a:b@c!$&'()*+,;="
            })
    void targetIsForwardedByteForByte(String target) throws IOException {
        Message request = forwarded("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n");

        assertThat(request.line()).isEqualTo("GET " + target + " HTTP/1.1");
    }

    @Test
    void anyMethodIsForwarded() throws IOException {
        assertThat(forwarded("PURGE /cache HTTP/1.1\r\nHost: h\r\n\r\n").method())
                .isEqualTo("PURGE");
        assertThat(forwarded("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").target()).isEqualTo("*");
    }

    @Test
    void endToEndHeadersAreForwardedInOrderAndWithEveryLine() throws IOException {
        Message request = forwarded("GET / HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nX-Two: a\r\nx-two: b\r\n"
                + "Authorization: Bearer t\r\nCookie: a=b\r\nAccept: */*\r\nX-Latin: \u00e4\u00ff\r\n"
                + "Idempotency-Key: \"mine\"\r\nX-Empty:\r\n\r\n");

        assertThat(request.headers().all("X-Two")).containsExactly("a", "b");
        assertThat(request.header("X-One")).isEqualTo("1");
        assertThat(request.header("Authorization")).isEqualTo("Bearer t");
        assertThat(request.header("Cookie")).isEqualTo("a=b");
        assertThat(request.header("X-Latin")).isEqualTo("\u00e4\u00ff");
        assertThat(request.header("Idempotency-Key")).isEqualTo("\"mine\"");
        assertThat(request.headers().all("X-Empty")).containsExactly("");
        assertThat(request.header("Host")).isEqualTo("h");
    }

    @Test
    void hopByHopHeadersAreNotForwarded() throws IOException {
        Message request = forwarded("GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Mine\r\nX-Mine: secret\r\n"
                + "Keep-Alive: timeout=9\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: irc\r\nProxy-Authorization: p\r\n"
                + "Proxy-Connection: close\r\nX-Other: stays\r\n\r\n");

        assertThat(request.header("X-Other")).isEqualTo("stays");
        for (String name : new String[] {
            "Connection", "X-Mine", "Keep-Alive", "TE", "Trailer", "Upgrade", "Proxy-Authorization", "Proxy-Connection"
        }) {
            assertThat(request.headers().all(name)).as(name).isEmpty();
        }
    }

    @Test
    void hopByHopHeadersOfAResponseAreNotForwarded() throws IOException {
        Message answer = answered(
                "GET",
                response(
                        "200 OK\r\nConnection: X-Mine\r\nX-Mine: secret\r\nKeep-Alive: timeout=9\r\n"
                                + "Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2",
                        "fine"));

        assertThat(answer.headers().all("Set-Cookie")).containsExactly("a=1", "b=2");
        for (String name : new String[] {"Connection", "X-Mine", "Keep-Alive", "Proxy-Authenticate", "Upgrade"}) {
            assertThat(answer.headers().all(name)).as(name).isEmpty();
        }
    }

    @Test
    void whatAClientClaimsOfWhereItComesFromIsReplaced() throws IOException {
        Message request = forwarded("GET / HTTP/1.1\r\nHost: shop.example:81\r\nX-Forwarded-For: 6.6.6.6\r\n"
                + "X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Prefix: /x\r\n"
                + "X-Real-IP: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n\r\n");

        assertThat(request.headers().all("X-Forwarded-For")).containsExactly("127.0.0.1");
        assertThat(request.headers().all("X-Forwarded-Proto")).containsExactly("http");
        assertThat(request.headers().all("X-Forwarded-Host")).containsExactly("shop.example:81");
        assertThat(request.header("X-Forwarded-Port")).matches("[0-9]+");
        assertThat(request.headers().all("Forwarded"))
                .containsExactly("for=127.0.0.1;proto=http;host=\"shop.example:81\"");
        assertThat(request.headers().contains("X-Forwarded-Prefix")).isFalse();
        assertThat(request.headers().contains("X-Real-IP")).isFalse();
        assertThat(request.headers().contains("Via")).isFalse();
    }

    @Test
    void whatATrustedProxyClaimsIsAddedTo() throws IOException {
        try (RawUpstream upstream = RawUpstream.answering(any -> OK)) {
            Message request = forwarded(
                    TestGateway.before(upstream.uri()).forwarding(new Forwarding(true, false, "hapax")),
                    upstream,
                    "GET / HTTP/1.1\r\nHost: inner\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\n"
                            + "X-Forwarded-Host: shop\r\nForwarded: for=9.9.9.9\r\nVia: 2 edge\r\n\r\n");

            assertThat(request.headers().all("X-Forwarded-For")).containsExactly("9.9.9.9, 127.0.0.1");
            assertThat(request.headers().all("X-Forwarded-Proto")).containsExactly("https");
            assertThat(request.headers().all("X-Forwarded-Host")).containsExactly("shop");
            assertThat(request.header("Forwarded")).startsWith("for=9.9.9.9, for=127.0.0.1;");
            assertThat(request.header("Via")).isEqualTo("2 edge, 1.1 hapax");
            assertThat(request.header("Host")).isEqualTo(upstream.uri().getAuthority());
        }
    }

    @Test
    void nobodyButTheGatewaySaysHapaxToTheUpstream() throws IOException {
        Message request = forwarded(
                "GET / HTTP/1.1\r\nHost: h\r\nHapax-Operation-Id: forged\r\nHapax-Attempt: 7\r\nhapax-x: y\r\n\r\n");

        assertThat(request.headers().fields())
                .noneMatch(field -> field.name().toLowerCase(Locale.ROOT).startsWith("hapax-"));
    }

    @Test
    void bodiesKeepTheirFraming() throws IOException {
        Message none = forwarded("POST /notes HTTP/1.1\r\nHost: h\r\n\r\n");
        Message empty = forwarded("POST /notes HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
        Message known = forwarded("POST /notes HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
        Message chunked = forwarded("POST /notes HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2;ext=1\r\nhe\r\n3\r\nllo\r\n0\r\nX-Trailer: t\r\n\r\n");

        assertThat(none.body()).isEmpty();
        assertThat(none.headers().contains("Transfer-Encoding")).isFalse();
        assertThat(empty.header("Content-Length")).isEqualTo("0");
        assertThat(known.header("Content-Length")).isEqualTo("5");
        assertThat(known.text()).isEqualTo("hello");
        assertThat(chunked.header("Transfer-Encoding")).isEqualTo("chunked");
        assertThat(chunked.headers().contains("Content-Length")).isFalse();
        assertThat(chunked.text()).isEqualTo("hello");
    }

    @Test
    void responsesKeepTheirFraming() throws IOException {
        assertThat(answered("GET", OK).header("Content-Length")).isEqualTo("4");
        assertThat(answered("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n")
                        .header("Content-Length"))
                .isEqualTo("77");
        Message chunked = answered(
                "GET",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n");
        assertThat(chunked.header("Transfer-Encoding")).isEqualTo("chunked");
        assertThat(chunked.text()).isEqualTo("abc");
        assertThat(chunked.trailers().first("X-Sum")).contains("6");
        Message nothing = answered("GET", "HTTP/1.1 204 No Content\r\n\r\n");
        assertThat(nothing.headers().contains("Content-Length")).isFalse();
        assertThat(nothing.headers().contains("Transfer-Encoding")).isFalse();
        assertThat(answered("GET", "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n\r\n")
                        .header("ETag"))
                .isEqualTo("\"e\"");
        assertThat(answered("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                        .header("Date"))
                .endsWith("GMT");
    }

    @Test
    void clientThatAsksFirstIsToldByTheUpstream() throws Exception {
        Semaphore welcome = new Semaphore(0);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message head = Message.readHead(connection.in()).orElseThrow();
                    welcome.acquire();
                    connection.send("HTTP/1.1 100 Continue\r\n\r\n");
                    Message request = head.withBody(connection.in(), false);
                    connection.send(response("200 OK", request.header("Expect") + " " + request.text()));
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("PUT /file HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            await().during(Duration.ofMillis(100)).until(() -> client.in().available() == 0);
            welcome.release();

            assertThat(client.readHead().status()).isEqualTo(100);
            assertThat(client.send("hello").read().text()).isEqualTo("100-continue hello");
        }
    }

    @Test
    void clientThatAsksFirstMayBeRefused() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message.readHead(connection.in());
                    connection.send(response("401 Unauthorized", "who are you"));
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("PUT /file HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 500000\r\n\r\n");

            assertThat(client.read().status()).isEqualTo(401);
            assertThat(client.isClosed()).isTrue();
        }
    }

    @Test
    void earlyHintsArePassedOnAndOtherInformationalResponsesAreNot() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> "HTTP/1.1 102 Processing\r\n\r\n"
                        + "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" + OK);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");

            Message hints = client.read();
            assertThat(hints.status()).isEqualTo(103);
            assertThat(hints.header("Link")).isEqualTo("</style.css>");
            assertThat(client.read().text()).isEqualTo("fine");
        }
    }

    @Test
    void eventsArriveAsTheyAreSent() throws Exception {
        Semaphore more = new Semaphore(0);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
                    for (int i = 0; i < 3; i++) {
                        connection.send("data: " + i + "\n\n");
                        more.acquire();
                    }
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n").readHead();
            for (int i = 0; i < 3; i++) {
                assertThat(new String(Message.readChunk(client.in()), ISO_8859_1))
                        .isEqualTo("data: " + i + "\n\n");
                more.release();
            }
            assertThat(Message.readChunk(client.in())).isEmpty();
        }
    }

    @Test
    void requestIsForwardedWhileItStillComesIn() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message.readHead(connection.in());
                    Message.readChunk(connection.in());
                    first.countDown();
                    Message.readChunk(connection.in());
                    connection.send(OK);
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("POST /notes HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
            assertThat(first.await(60, TimeUnit.SECONDS)).isTrue();

            assertThat(client.send("0\r\n\r\n").read().status()).isEqualTo(200);
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(request -> response("200 OK", request.target()));
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 20; i++) {
                all.append("GET /" + i + " HTTP/1.1\r\nHost: h\r\n\r\n");
            }
            client.send(all.toString());
            for (int i = 0; i < 20; i++) {
                assertThat(client.read().text()).isEqualTo("/" + i);
            }
        }
    }

    @Test
    void oldClientIsServedToo() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(
                        any -> "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            Message answer = client.send("GET / HTTP/1.0\r\n\r\n").read();

            assertThat(answer.headers().contains("Transfer-Encoding")).isFalse();
            assertThat(answer.text()).isEqualTo("abc");
        }
    }

    @Test
    void http2IsTranslated() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(
                        request -> response("200 OK", request.header("Host") + " " + request.text()));
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            HttpClient client = HttpClient.newBuilder().version(Version.HTTP_2).build();
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> get = client.send(
                        HttpRequest.newBuilder(gateway.uri("/a?b=c")).build(), BodyHandlers.ofString());
                assertThat(get.version()).isEqualTo(Version.HTTP_2);
                assertThat(get.body()).isEqualTo("127.0.0.1:" + gateway.port() + " ");
            }
            HttpResponse<String> post = client.send(
                    HttpRequest.newBuilder(gateway.uri("/notes"))
                            .POST(BodyPublishers.fromPublisher(BodyPublishers.ofString("unknown length")))
                            .build(),
                    BodyHandlers.ofString());

            assertThat(post.version()).isEqualTo(Version.HTTP_2);
            assertThat(post.body()).endsWith(" unknown length");
            Message get = upstream.requests().get(2);
            assertThat(get.line()).isEqualTo("GET /a?b=c HTTP/1.1");
            assertThat(get.headers().contains("Transfer-Encoding")).isFalse();
            assertThat(upstream.requests().get(3).header("Transfer-Encoding")).isEqualTo("chunked");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/a b",
                "/ HTTP/1.1\r\nX-Smuggled: yes",
                "/\tx",
                "/#x",
                "http://elsewhere/",
                "elsewhere",
                "/\u00e4",
                "*"
            })
    void http2CannotSayWhatHttp1Cannot(String path) throws Exception {
        Vertx vertx = Vertx.vertx();
        try (RawUpstream upstream = RawUpstream.answering(any -> OK);
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            HttpClientOptions http2 = new HttpClientOptions()
                    .setProtocolVersion(HttpVersion.HTTP_2)
                    .setHttp2ClearTextUpgrade(false);
            CompletableFuture<Integer> status = vertx.createHttpClient(http2)
                    .request(HttpMethod.GET, gateway.port(), "127.0.0.1", path)
                    .compose(HttpClientRequest::send)
                    .map(HttpClientResponse::statusCode)
                    .otherwise(400) // reset as malformed
                    .toCompletionStage()
                    .toCompletableFuture();

            assertThat(status).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(400);
            assertThat(upstream.requests()).isEmpty();
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    @Test
    void webSocketsPassThrough() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(PassThroughTest::echoWebSocket);
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            Queue<String> echoes = new ConcurrentLinkedQueue<>();
            WebSocket socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(
                            URI.create("ws://127.0.0.1:" + gateway.port() + "/chat?room=1"), new WebSocket.Listener() {
                                @Override
                                public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
                                    echoes.add(text.toString());
                                    socket.request(1);
                                    return null;
                                }
                            })
                    .join();
            for (int i = 0; i < 100; i++) {
                socket.sendText("message " + i, true).join();
            }
            await().until(() -> echoes.size() == 100);

            assertThat(echoes).contains("message 0", "message 99");
            assertThat(upstream.requests().get(0).header("X-Forwarded-For")).isEqualTo("127.0.0.1");
            socket.abort();
            await().until(() -> upstream.connections().get(0).in().read() < 0);
        }
    }

    /** Accepts a WebSocket, and sends every text frame back. */
    private static void echoWebSocket(RawUpstream.Connection connection) throws Exception {
        Message request = connection.read().orElseThrow();
        byte[] accept = MessageDigest.getInstance("SHA-1")
                .digest((request.header("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
                        .getBytes(ISO_8859_1));
        connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Accept: " + Base64.getEncoder().encodeToString(accept) + "\r\n\r\n");
        for (int i = 0; i < 100; i++) {
            connection.in().readNBytes(1);
            int length = connection.in().read() & 0x7f;
            byte[] mask = connection.in().readNBytes(4);
            byte[] text = connection.in().readNBytes(length);
            for (int k = 0; k < length; k++) {
                text[k] ^= mask[k % 4];
            }
            connection.out().write(new byte[] {(byte) 0x81, (byte) length});
            connection.out().write(text);
            connection.out().flush();
        }
        await().forever().until(() -> false);
    }

    @Test
    void refusedWebSocketIsAnAnswer() throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> response("403 Forbidden", "no"));
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("GET /chat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n");

            assertThat(client.read().text()).isEqualTo("no");
            assertThat(upstream.requests().get(0).header("Upgrade")).isEqualTo("websocket");
        }
    }

    @Test
    void unreachableUpstreamIsAProblem() throws Exception {
        int port = RawUpstream.freePort();
        try (TestGateway gateway = TestGateway.before(URI.create("http://127.0.0.1:" + port))
                        .start();
                RawClient client = new RawClient(gateway)) {
            Message answer = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read();

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
            assertThat(answer.text()).doesNotContain(Integer.toString(port));
            assertThat(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read().status())
                    .isEqualTo(503);
        }
    }

    @Test
    void silentUpstreamIsAProblem() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> over.await());
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .responseTimeout(Duration.ofMillis(300))
                        .start();
                RawClient client = new RawClient(gateway)) {
            Message answer = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read();

            assertThat(answer.status()).isEqualTo(504);
            assertThat(answer.text()).contains("upstream-timeout");
        } finally {
            over.countDown();
        }
    }

    @Test
    void upstreamThatHangsUpIsAProblem() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(RawUpstream.Connection::read);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            Message answer = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read();

            assertThat(answer.status()).isEqualTo(502);
            assertThat(upstream.requests()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 10", "Transfer-Encoding: chunked"})
    void responseThatBreaksOffIsNotMadeWhole(String framing) throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\n" + framing + "\r\n\r\n4\r\nhalf\r\n");
                    connection.close();
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");

            assertThatThrownBy(client::read).isInstanceOf(IOException.class);
        }
    }

    @Test
    void clientThatGoesAwayStopsTheUpstream() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\n\r\nfirst");
                    begun.countDown();
                    stopped.set(connection.read().isEmpty());
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").readHead();
            begun.await();
            client.reset();

            await().untilTrue(stopped);
        }
    }

    @Test
    void clientThatGoesAwayInTheMiddleOfItsRequestStopsTheUpstream() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message.readHead(connection.in());
                    connection.in().readAllBytes();
                    stopped.set(true);
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("POST /notes HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");
            await().until(() -> !upstream.connections().isEmpty());
            client.reset();

            await().untilTrue(stopped);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET http://elsewhere/ HTTP/1.1\r\nHost: elsewhere\r\n\r\n",
                "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n",
                "GET / HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
                "GET /#fragment HTTP/1.1\r\nHost: h\r\n\r\n",
                "GET /\u00e4 HTTP/1.1\r\nHost: h\r\n\r\n",
                "POST /notes HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                "POST /notes HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "POST /notes HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "POST /notes HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                "POST /notes HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: h\r\nConnection: a b\r\n\r\n"
            })
    void whatCouldBeReadInTwoWaysIsRefused(String request) throws Exception {
        try (RawUpstream upstream = RawUpstream.answering(any -> OK);
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            Message answer = client.send(request).read();

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text()).contains("urn:hapax:problem:request-invalid");
            assertThat(client.isClosed()).isTrue();
            assertThat(upstream.requests()).isEmpty();
        }
    }
}
