package dev.hapax.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.gateway.proxy.GatewaySettings.Protocol;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An upstream that speaks HTTP/2. */
class Http2UpstreamTest {
    private static final long CANCEL = 8;
    private static final long REFUSED_STREAM = 7;

    private final Vertx vertx = Vertx.vertx();
    private final AtomicInteger requests = new AtomicInteger();
    private final HttpServer upstream = vertx.createHttpServer()
            .requestHandler(this::handle)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .join();
    private final TestGateway gateway = TestGateway.before(URI.create("http://127.0.0.1:" + upstream.actualPort()))
            .upstream(old -> new Upstream(
                    old.pathPrefix(),
                    old.uri(),
                    Protocol.HTTP_2,
                    old.connectTimeout(),
                    old.responseTimeout(),
                    old.pool(),
                    old.authorities()))
            .start();

    @AfterEach
    void close() {
        gateway.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private void handle(HttpServerRequest request) {
        requests.incrementAndGet();
        switch (request.path()) {
            case "/echo" ->
                request.body()
                        .onSuccess(body -> request.response()
                                .putHeader("X-Version", request.version().name())
                                .putHeader("X-Authority", request.authority().toString())
                                .putTrailer("X-Trailer", "t")
                                .end(body));
            case "/large" -> request.response().end(Buffer.buffer(new byte[3_000_000]));
            default -> {
                if (requests.get() == 1) {
                    request.response().reset(Long.parseLong(request.getHeader("X-Reset")));
                } else {
                    request.response().setStatusCode(201).end("done");
                }
            }
        }
    }

    private Message send(String text) throws IOException {
        try (RawClient client = new RawClient(gateway)) {
            return client.send(text).read();
        }
    }

    private Message charge(long reset) throws IOException {
        return send(RawClient.chargeText("k").replace("\r\nHost:", "\r\nX-Reset: " + reset + "\r\nHost:"));
    }

    @Test
    void requestsAreTranslated() throws Exception {
        Message answer = send("POST /echo HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 5\r\n\r\nhello");

        assertThat(answer.text()).isEqualTo("hello");
        assertThat(answer.header("X-Version")).isEqualTo(HttpVersion.HTTP_2.name());
        assertThat(answer.header("X-Authority")).isEqualTo("shop.example");
        assertThat(send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n").body()).hasSize(3_000_000);
    }

    @Test
    void streamThatWasRefusedUnreadIsReleased() throws Exception {
        Message refused = charge(REFUSED_STREAM);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.text()).contains("upstream-unreachable");

        assertThat(charge(REFUSED_STREAM).status()).isEqualTo(201);
        assertThat(requests).hasValue(2);
    }

    @Test
    void streamThatWasCancelledIsInDoubt() throws Exception {
        assertThat(charge(CANCEL).text()).contains("in-doubt");
        assertThat(charge(CANCEL).text()).contains("in-doubt");
        assertThat(requests).hasValue(1);
    }
}
