package dev.hapax.bench.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class ClientsTest {
    private static final Vertx VERTX = Vertx.vertx();

    private final List<String> keys = new CopyOnWriteArrayList<>();

    @AfterAll
    static void stop() {
        VERTX.close().await();
    }

    @Test
    void sendsExactlySoManyRequestsEachWithAKeyOfItsOwn() throws Exception {
        int port = serverThat(ClientsTest::answer);

        try (Clients clients = new Clients(port, 8)) {
            clients.send(100, Keys.fresh());
        }

        assertThat(keys).hasSize(100).doesNotHaveDuplicates().allMatch(key -> key.matches("\"key-[0-9a-f]{32}\""));
    }

    @Test
    void aClosedLoopEndsWithEveryAnswerThere() throws Exception {
        int port = serverThat(ClientsTest::answer);

        try (Clients clients = new Clients(port, 8)) {
            assertThat(clients.closedLoop(Duration.ofMillis(50), Keys.fresh()).perSecond())
                    .isPositive();
            clients.send(1, Keys.fresh());
        }

        assertThat(keys).hasSizeGreaterThanOrEqualTo(9);
    }

    @Test
    void medianIsTheMiddleOfAllAnswers() {
        LoadResult load = LoadResult.of(1_500_000_000, LongStream.of(9, 400, 7));

        assertThat(load).isEqualTo(new LoadResult(2, 9));
    }

    @Test
    void anotherAnswerThanExpectedEndsTheLoad() throws Exception {
        int port = serverThat(request -> request.response().setStatusCode(409).end("in flight"));

        try (Clients clients = new Clients(port, 2)) {
            assertThatThrownBy(() -> clients.send(10, Keys.fresh()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("expected 201")
                    .hasMessageContaining("409 Conflict");
        }
    }

    @Test
    void aReplayMustSayThatItIsOneAndNothingElseMay() throws Exception {
        int plain = serverThat(ClientsTest::answer);
        int replaying = serverThat(request -> {
            request.response().putHeader("Idempotent-Replayed", "true");
            answer(request);
        });

        try (Clients ofPlain = new Clients(plain, 1);
                Clients ofReplaying = new Clients(replaying, 1)) {
            ofReplaying.send(5, Keys.fresh().again(3));
            assertThatThrownBy(() -> ofPlain.send(1, Keys.fresh().again(3))).hasMessageContaining("replayed");
            assertThatThrownBy(() -> ofReplaying.send(1, Keys.fresh())).isInstanceOf(IllegalStateException.class);
        }

        assertThat(keys.subList(0, 5)).allMatch(key -> key.matches(".*000[123]\""));
    }

    @Test
    void anAnswerMayComeByteByByte() {
        Answer answer = new Answer();
        byte[] bytes =
                "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX: y\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);

        for (int i = 0; i < bytes.length; i++) {
            answer.bytes()[i] = bytes[i];
            assertThat(answer.add(1)).as("after %d bytes", i + 1).isEqualTo(i == bytes.length - 1);
        }

        answer.require(201, false);
    }

    private int serverThat(Consumer<HttpServerRequest> answers) {
        return VERTX.createHttpServer()
                .requestHandler(request -> {
                    keys.add(request.getHeader("Idempotency-Key"));
                    request.endHandler(end -> answers.accept(request));
                })
                .listen(0, "127.0.0.1")
                .await()
                .actualPort();
    }

    private static void answer(HttpServerRequest request) {
        request.response().setStatusCode(201).end("done");
    }
}
