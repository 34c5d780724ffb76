package dev.hapax.http;

import static dev.hapax.http.Api.answer;
import static dev.hapax.http.Api.keyed;
import static dev.hapax.http.Api.request;
import static dev.hapax.http.Api.text;
import static dev.hapax.http.ProblemTest.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.Policy;
import dev.hapax.TerminalFailure;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.OperationKey;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ReservedTest {
    private final ManualClock clock = new ManualClock();
    private final MemoryStore store = new MemoryStore(clock);
    private Api api = Api.on(
            store,
            Policy.defaults().whenAbandoned(WhenAbandoned.PARK).retention(Duration.ofHours(1)),
            HttpPolicy.defaults());

    @AfterEach
    void close() {
        api.close();
    }

    private static String path(HttpResponse response) {
        return "/.hapax/operations/"
                + response.headers().first("Hapax-Operation-Id").orElseThrow();
    }

    private HttpResponse statusOf(HttpResponse work) {
        HttpResponse response = api.send(keyed("k"), run -> work);
        clock.advance(Duration.ofSeconds(1));
        return api.look(path(response));
    }

    @Test
    void finishedOperationIsShownWithItsResponse() {
        HttpResponse status = statusOf(answer(
                201,
                "{\"id\": 1.50, \"a\":\"\u00e9\"}",
                "Content-Type",
                "application/json",
                "Link",
                "</a>",
                "link",
                "</b>",
                "X-Trace",
                "t"));
        assertThat(status.status()).isEqualTo(200);
        assertThat(status.headers().first("Content-Type")).contains("application/json");
        assertThat(status.headers().first("Cache-Control")).contains("no-store");
        assertThat(status.headers().contains("Retry-After")).isFalse();
        assertThat(text(status))
                .isEqualTo("{\"id\":\"" + member(status, "/id") + "\",\"scope\":\"payments\",\"state\":\"completed\","
                        + "\"attempt\":1,\"created_at\":\"2026-01-01T00:00:00Z\",\"claimed_at\":\"2026-01-01T00:00:00Z\","
                        + "\"finished_at\":\"2026-01-01T00:00:00Z\",\"expires_at\":\"2026-01-01T01:00:00Z\","
                        + "\"response\":{\"status\":201,\"headers\":{\"Content-Type\":\"application/json\","
                        + "\"Link\":\"</a>, </b>\"},\"body\":{\"id\": 1.50, \"a\":\"\u00e9\"},"
                        + "\"body_encoding\":\"json\"}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"a\":1", "", "{} {}", "[1],\"x\":[2]", "{}}", "NaN"})
    void bodyThatOnlyClaimsToBeJsonIsText(String body) {
        HttpResponse status = statusOf(answer(200, body, "Content-Type", "application/json"));
        assertThat(member(status, "/response/body_encoding")).isEqualTo("text");
        assertThat(member(status, "/response/body")).isEqualTo(body);
        assertThat(CanonicalJson.of(status.body())).isPresent();
    }

    @Test
    void textIsTextAndAnythingElseBase64() {
        HttpResponse plain = statusOf(answer(200, "{\"a\":1}", "Content-Type", "text/plain"));
        assertThat(member(plain, "/response/body")).isEqualTo("{\"a\":1}");
        HttpResponse binary = api.send(
                keyed("k2"),
                run -> new HttpResponse(200, Headers.NONE, HexFormat.of().parseHex("00ff")));
        HttpResponse shown = api.look(path(binary));
        assertThat(member(shown, "/response/body")).isEqualTo("AP8=");
        assertThat(member(shown, "/response/body_encoding")).isEqualTo("base64");
    }

    @Test
    void encodedBodyIsNotTakenForText() {
        HttpResponse status =
                statusOf(answer(200, "{}", "Content-Type", "application/json", "Content-Encoding", "gzip"));
        assertThat(member(status, "/response/body_encoding")).isEqualTo("base64");
    }

    @Test
    void failedOperationIsShownAsARetryWouldSeeIt() {
        HttpResponse first = api.run(
                keyed("k"),
                operation -> CompletableFuture.failedFuture(new TerminalFailure(402, "card 4242 declined")));
        HttpResponse status = api.look(path(first));
        assertThat(member(status, "/state")).isEqualTo("failed");
        assertThat(member(status, "/response/status")).isEqualTo("402");
        assertThat(member(status, "/response/body/type")).isEqualTo(Problem.OPERATION_FAILED.type());
        assertThat(text(status)).doesNotContain("4242");
    }

    @Test
    void responseThatWasNotKeptIsShownWithItsStatusOnly() {
        HttpResponse status = statusOf(new HttpResponse(207, Headers.NONE, new byte[1], "rest"));
        assertThat(member(status, "/state")).isEqualTo("completed");
        assertThat(text(status)).contains("\"response\":{\"status\":207,\"stored\":false}");
    }

    @Test
    void runningAndPendingOperationsSayWhenToAskAgain() {
        CompletableFuture<HttpResponse> running = new CompletableFuture<>();
        CompletableFuture<String> begun = new CompletableFuture<>();
        var first = api.begin(keyed("k"), operation -> {
            begun.complete("/.hapax/operations/" + operation.lease().operationId());
            return running;
        });
        HttpResponse processing = api.look(begun.join());
        assertThat(member(processing, "/state")).isEqualTo("processing");
        assertThat(processing.headers().first("Retry-After")).contains("1");
        running.complete(answer(503, "busy"));
        Api.get(first);
        HttpResponse pending = api.look(begun.join());
        assertThat(pending.status()).isEqualTo(200);
        assertThat(member(pending, "/state")).isEqualTo("pending");
        assertThat(pending.headers().first("Retry-After")).contains("1");
        assertThat(text(pending)).doesNotContain("response").doesNotContain("finished_at");
    }

    @Test
    void operationInDoubtSaysSo() {
        HttpResponse first = api.run(
                keyed("k"), operation -> CompletableFuture.failedFuture(new OutcomeUnknownException("reset", null)));
        HttpResponse status = api.look(path(first));
        assertThat(status.status()).isEqualTo(200);
        assertThat(member(status, "/state")).isEqualTo("in_doubt");
        assertThat(status.headers().contains("Retry-After")).isFalse();
    }

    @Test
    void expiredOperationIsGone() {
        HttpResponse first = api.send(keyed("k"));
        clock.advance(Duration.ofMinutes(61));
        HttpResponse status = api.look(path(first));
        assertThat(status.status()).isEqualTo(410);
        assertThat(text(status)).contains(Problem.EXPIRED.type()).doesNotContain("run 1");
    }

    @Test
    void foreignOperationCannotBeToldFromAnUnknownOne() {
        HttpResponse mine = api.send(request("b", "Idempotency-Key", "k", "Authorization", "Bearer me"));
        assertThat(api.look(path(mine), "Authorization", "Bearer me").status()).isEqualTo(200);
        String unknown = "/.hapax/operations/00000000-0000-0000-0000-000000000000";
        for (HttpResponse other : List.of(
                api.look(path(mine), "Authorization", "Bearer you"),
                api.look(path(mine)),
                api.look(path(mine) + "x", "Authorization", "Bearer me"),
                api.look(path(mine).toUpperCase(Locale.ROOT), "Authorization", "Bearer me"))) {
            assertThat(other.status()).isEqualTo(404);
            assertThat(other.headers()).isEqualTo(api.look(unknown).headers());
            assertThat(other.body()).isEqualTo(api.look(unknown).body());
        }
    }

    @Test
    void foreignExpiredOperationIsUnknownToo() {
        HttpResponse mine = api.send(request("b", "Idempotency-Key", "k", "Authorization", "Bearer me"));
        clock.advance(Duration.ofMinutes(61));
        assertThat(api.look(path(mine), "Authorization", "Bearer you").status()).isEqualTo(404);
    }

    @Test
    void operationsOfOtherUsersOfTheStoreAreNotShown() {
        try (Hapax jobs =
                Hapax.on(store).scope("jobs", Policy.job()).withoutSweeper().build()) {
            jobs.scope("jobs").key("k").run(lease -> new byte[] {1});
        }
        String id = new OperationKey("", "jobs", "k").id().toString();
        assertThat(api.look("/.hapax/operations/" + id).status()).isEqualTo(404);
    }

    @Test
    void resultThatIsNotAResponseIsNotShown() {
        try (Hapax library =
                Hapax.on(store).scope(Api.SCOPE, Policy.job()).withoutSweeper().build()) {
            library.scope(Api.SCOPE)
                    .key("k")
                    .returning(new dev.hapax.codec.Codec<String>() {
                        @Override
                        public dev.hapax.store.Payload encode(String value) {
                            return new dev.hapax.store.Payload(0, Api.bytes("something else"), new byte[0]);
                        }

                        @Override
                        public String decode(dev.hapax.store.Payload payload) {
                            return "";
                        }
                    })
                    .run(lease -> "x");
        }
        String id = new OperationKey("", Api.SCOPE, "k").id().toString();
        assertThat(api.look("/.hapax/operations/" + id).status()).isEqualTo(500);
    }

    @Test
    void storeThatCannotBeReachedIsToldWithoutItsName() {
        api.close();
        api = Api.on(
                FailingStore.onFind(new StoreUnavailableException("db-7 is down", null)),
                Policy.defaults(),
                HttpPolicy.defaults());
        HttpResponse status = api.look("/.hapax/operations/00000000-0000-0000-0000-000000000000");
        assertThat(status.status()).isEqualTo(503);
        assertThat(status.headers().contains("Retry-After")).isTrue();
        assertThat(text(status)).doesNotContain("db-7");
        api.close();
        api = Api.on(FailingStore.onFind(new StoreException("db-7", null)), Policy.defaults(), HttpPolicy.defaults());
        assertThat(api.look("/.hapax/operations/00000000-0000-0000-0000-000000000000")
                        .status())
                .isEqualTo(500);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/.hapax/",
                "/.hapax/x",
                "/.hapax/operations",
                "/.hapax/operations/",
                "/.hapax/operations/x",
                "/.hapax/operations/1-1-1-1-1",
                "/.hapax/operations/../problems",
                "/.hapax/problems/x",
                "/.hapax/problems/IN-DOUBT",
                "/.hapax/problemsx"
            })
    void anythingElseIsNotFound(String path) {
        assertThat(api.look(path).status()).isEqualTo(404);
    }

    @Test
    void onlyGetAndHeadAreAllowed() {
        for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "get")) {
            HttpResponse response = Api.get(api.http.reserved(
                    new HttpRequest(method, "/.hapax/problems", "", Headers.NONE, new byte[0], null)));
            assertThat(response.status()).isEqualTo(405);
            assertThat(response.headers().first("Allow")).contains("GET, HEAD");
        }
    }

    @Test
    void headIsGetWithoutItsBody() {
        HttpResponse first = api.send(keyed("k"));
        HttpResponse head =
                Api.get(api.http.reserved(new HttpRequest("HEAD", path(first), "", Headers.NONE, new byte[0], null)));
        HttpResponse get = api.look(path(first));
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.headers()).isEqualTo(get.headers());
        assertThat(head.body()).isEmpty();
        assertThat(get.body()).isNotEmpty();
    }
}
