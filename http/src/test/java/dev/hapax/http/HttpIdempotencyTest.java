package dev.hapax.http;

import static dev.hapax.http.Api.answer;
import static dev.hapax.http.Api.created;
import static dev.hapax.http.Api.keyed;
import static dev.hapax.http.Api.request;
import static dev.hapax.http.Api.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.Hapax;
import dev.hapax.NotBegunException;
import dev.hapax.OnStoreFailure;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.Policy;
import dev.hapax.TerminalFailure;
import dev.hapax.WhenInFlight;
import dev.hapax.http.HttpPolicy.ServerErrors;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class HttpIdempotencyTest {
    private static final HttpPolicy RELEASING = policy(true, ServerErrors.RELEASE);

    private Api api = Api.defaults();

    @AfterEach
    void close() {
        api.close();
    }

    private void use(Api other) {
        api.close();
        api = other;
    }

    private static HttpPolicy policy(boolean keyRequired, ServerErrors serverErrors) {
        return new HttpPolicy(keyRequired, serverErrors, FingerprintRule.WHOLE, Set.of());
    }

    private static void assertProblem(HttpResponse response, Problem problem) {
        assertThat(text(response)).contains("\"" + problem.type() + "\"");
        assertThat(response.status()).isEqualTo(problem.status());
        assertThat(response.headers().first("Content-Type")).contains("application/problem+json");
    }

    /** A problem of one operation: every answer says which one, once the key is known. */
    private static void assertProblemOfOperation(HttpResponse response, Problem problem) {
        assertProblem(response, problem);
        assertThat(response.headers().first("Hapax-Operation-Id"))
                .contains(ProblemTest.member(response, "/operation_id"));
    }

    @Test
    void firstRequestGetsTheResponseOfTheWork() {
        HttpResponse response = api.send(keyed("k"), run -> created("one", "Set-Cookie", "a=b", "X-Trace", "t"));
        assertThat(response.status()).isEqualTo(201);
        assertThat(text(response)).isEqualTo("one");
        assertThat(response.headers().first("Set-Cookie")).contains("a=b");
        assertThat(response.headers().first("X-Trace")).contains("t");
        assertThat(response.headers().contains("Hapax-Operation-Id")).isTrue();
        assertThat(response.headers().contains("Idempotent-Replayed")).isFalse();
        assertThat(response.headers().contains("Hapax-Recorded")).isFalse();
    }

    @Test
    void retryGetsWhatWasStored() {
        HttpResponse first = api.send(
                keyed("k"), run -> created("one", "Location", "/v1/charges/1", "Set-Cookie", "a=b", "X-Trace", "t"));
        HttpResponse retry = api.send(keyed("\"k\""));
        assertThat(retry.status()).isEqualTo(201);
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers().fields())
                .containsExactlyInAnyOrder(
                        new Headers.Field("Location", "/v1/charges/1"),
                        new Headers.Field("Idempotent-Replayed", "true"),
                        new Headers.Field(
                                "Hapax-Operation-Id",
                                first.headers().first("Hapax-Operation-Id").orElseThrow()));
        assertThat(api.runs).hasValue(1);
    }

    @Test
    void spellingsOfOnePathAreOneRequest() {
        api.send(keyed("k"));
        HttpRequest same = keyed("k");
        HttpResponse retry = api.send(
                new HttpRequest("POST", "/V1/%63harges/", "", same.headers(), Api.bytes("{ \"amount\":1.0 }"), null));
        assertThat(retry.headers().first("Idempotent-Replayed")).contains("true");
        assertThat(api.runs).hasValue(1);
    }

    @Test
    void sameKeyWithAnotherRequestIsRefused() {
        api.send(keyed("k"));
        HttpResponse other = api.send(request("{\"amount\":2}", "Idempotency-Key", "k"));
        assertProblemOfOperation(other, Problem.KEY_REUSED);
        assertThat(api.runs).hasValue(1);
    }

    @Test
    void largeRequestsAreComparedWithoutTheCallersThread() {
        String large = "[" + "1,".repeat(100_000) + "1]";
        String[] headers = {"Idempotency-Key", "k", "Content-Type", "application/json"};
        assertThat(text(api.send(request(large, headers)))).isEqualTo("run 1");
        assertThat(text(api.send(request(" " + large, headers)))).isEqualTo("run 1");
        assertProblemOfOperation(api.send(request(large.replace("1]", "2]"), headers)), Problem.KEY_REUSED);
        assertProblem(api.send(request(large)), Problem.KEY_MISSING);
    }

    @Test
    void sameKeyOfAnotherTenantIsAnotherOperation() {
        HttpResponse mine = api.send(request("b", "Idempotency-Key", "k", "Authorization", "Bearer me"));
        HttpResponse yours = api.send(request("b", "Idempotency-Key", "k", "Authorization", "Bearer you"));
        HttpResponse nobodys = api.send(request("b", "Idempotency-Key", "k"));
        assertThat(List.of(text(mine), text(yours), text(nobodys))).containsExactly("run 1", "run 2", "run 3");
    }

    @Test
    void missingKeyIsRefusedWhereRequired() {
        HttpResponse response = api.send(request("b"));
        assertProblem(response, Problem.KEY_MISSING);
        assertThat(response.headers().contains("Hapax-Operation-Id")).isFalse();
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void missingKeyPassesUnprotectedWhereNotRequired() {
        use(Api.with(Policy.defaults(), policy(false, ServerErrors.STORE)));
        AtomicReference<Operation> told = new AtomicReference<>();
        HttpResponse first = api.run(request("b"), operation -> {
            told.set(operation);
            return CompletableFuture.completedFuture(created("passed", "X-Trace", "t"));
        });
        assertThat(told.get()).isEqualTo(new Operation(null, null));
        assertThat(told.get().headers()).isEqualTo(Headers.NONE);
        assertThat(first.headers()).isEqualTo(Headers.of("X-Trace", "t"));
        assertThat(text(api.send(request("b")))).isEqualTo("run 1");
        assertThat(text(api.send(request("b")))).isEqualTo("run 2");
        assertProblem(api.send(request("b", "Idempotency-Key", "")), Problem.KEY_INVALID);
    }

    @Test
    void unprotectedWorkThatFailsIsAProblemToo() {
        use(Api.with(Policy.defaults(), policy(false, ServerErrors.STORE)));
        assertProblem(
                api.run(request("b"), operation -> {
                    throw new IllegalStateException("secret");
                }),
                Problem.INTERNAL);
        assertProblem(
                api.run(
                        request("b"),
                        operation -> CompletableFuture.failedFuture(new OutcomeUnknownException("x", null))),
                Problem.UPSTREAM_FAILED);
        assertProblem(
                api.run(request("b"), operation -> {
                    throw new ProblemException(Problem.UPSTREAM_UNREACHABLE, "d");
                }),
                Problem.UPSTREAM_UNREACHABLE);
    }

    @Test
    void workIsToldItsOperation() {
        AtomicReference<Operation> told = new AtomicReference<>();
        HttpResponse response = api.run(keyed("\"a\\\"b\\\\\""), operation -> {
            told.set(operation);
            return CompletableFuture.completedFuture(created("x"));
        });
        assertThat(told.get().key()).isEqualTo("a\"b\\");
        assertThat(told.get().headers())
                .isEqualTo(Headers.of(
                        "Idempotency-Key", "\"a\\\"b\\\\\"",
                        "Hapax-Attempt", "1",
                        "Hapax-Generation", "1",
                        "Hapax-Operation-Id",
                                response.headers().first("Hapax-Operation-Id").orElseThrow()));
    }

    @Test
    void nextAttemptIsToldThatItIs() {
        use(Api.with(Policy.defaults(), RELEASING));
        api.send(keyed("k"), run -> answer(500, "broken"));
        AtomicReference<Operation> told = new AtomicReference<>();
        api.run(keyed("k"), operation -> {
            told.set(operation);
            return CompletableFuture.completedFuture(created("x"));
        });
        assertThat(told.get().headers().first("Hapax-Attempt")).contains("2");
    }

    @Test
    void requestThatCannotBeComparedIsRefusedWithItsOperation() {
        HttpResponse response =
                api.send(request("{\"a\":1,\"a\":2}", "Idempotency-Key", "k", "Content-Type", "application/json"));
        assertProblemOfOperation(response, Problem.REQUEST_INVALID);
        assertThat(api.runs).hasValue(0);
    }

    @ParameterizedTest
    @CsvSource({
        "200, true", "201, true", "204, true", "301, true", "400, true", "401, false", "402, true", "403, false",
        "404, true", "408, false", "409, false", "410, true", "422, true", "425, false", "429, false", "451, true",
        "500, true", "501, true", "502, true", "503, false", "504, true", "599, true"
    })
    void storesWhatEndsTheOperation(int status, boolean stored) {
        HttpResponse first = api.send(keyed("k"), run -> answer(status, "run " + run, "X-Trace", "t"));
        assertThat(first.status()).isEqualTo(status);
        assertThat(first.headers().first("X-Trace")).contains("t");
        assertThat(first.headers().contains("Hapax-Operation-Id")).isTrue();
        HttpResponse retry = api.send(keyed("k"));
        assertThat(text(retry)).isEqualTo(stored ? "run 1" : "run 2");
        assertThat(retry.headers().contains("Idempotent-Replayed")).isEqualTo(stored);
        assertThat(api.runs).hasValue(stored ? 1 : 2);
    }

    @ParameterizedTest
    @CsvSource({"200, true", "404, true", "500, false", "502, false", "503, false", "429, false"})
    void serverErrorsAreReleasedWhereTheRouteSaysSo(int status, boolean stored) {
        use(Api.with(Policy.defaults(), RELEASING));
        assertThat(api.send(keyed("k"), run -> answer(status, "run " + run)).status())
                .isEqualTo(status);
        assertThat(text(api.send(keyed("k")))).isEqualTo(stored ? "run 1" : "run 2");
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403, 408, 409, 425, 429, 503})
    void refusalsCountAsNoAttempt(int status) {
        use(Api.with(Policy.defaults().maxAttempts(2), HttpPolicy.defaults()));
        for (int i = 0; i < 5; i++) {
            assertThat(api.send(keyed("k"), run -> answer(status, "not now")).status())
                    .isEqualTo(status);
        }
        assertThat(api.send(keyed("k")).status()).isEqualTo(201);
    }

    @Test
    void releasedServerErrorsCountAsAttempts() {
        use(Api.with(Policy.defaults().maxAttempts(2), RELEASING));
        api.send(keyed("k"), run -> answer(500, "broken"));
        api.send(keyed("k"), run -> answer(500, "broken"));
        assertProblemOfOperation(api.send(keyed("k")), Problem.OPERATION_FAILED);
        assertThat(api.runs).hasValue(2);
    }

    @ParameterizedTest
    @CsvSource({"429, STORE", "503, STORE", "500, RELEASE"})
    void releasedPaymentsAreNotInDoubt(int status, ServerErrors serverErrors) {
        use(Api.with(Policy.payment(), policy(true, serverErrors)));
        assertThat(api.send(keyed("k"), run -> answer(status, "not now")).status())
                .isEqualTo(status);
        assertThat(api.send(keyed("k")).status()).isEqualTo(201);
    }

    @Test
    void workOfAPaymentThatThrowsIsInDoubt() {
        use(Api.with(Policy.payment(), HttpPolicy.defaults()));
        Work charging = operation -> CompletableFuture.failedFuture(new SocketTimeoutException("10.0.0.7"));
        assertProblemOfOperation(api.run(keyed("k"), charging), Problem.IN_DOUBT);
        assertProblemOfOperation(api.send(keyed("k")), Problem.IN_DOUBT);
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void workThatWasNotBegunMayBeSentAgain() {
        use(Api.with(Policy.defaults().maxAttempts(1), HttpPolicy.defaults()));
        Work late = operation -> CompletableFuture.failedFuture(new NotBegunException("10.0.0.7 has no room"));
        for (int i = 0; i < 3; i++) {
            HttpResponse refused = api.run(keyed("k"), late);
            assertProblemOfOperation(refused, Problem.OVERLOADED);
            assertThat(text(refused)).doesNotContain("10.0.0.7");
        }
        assertThat(api.send(keyed("k")).status()).isEqualTo(201);
    }

    @Test
    void workThatThrowsHasFailedForGood() {
        HttpResponse first = api.run(keyed("k"), operation -> {
            api.runs.incrementAndGet();
            throw new IllegalStateException("password=hunter2");
        });
        assertProblem(first, Problem.OPERATION_FAILED);
        assertThat(text(first)).doesNotContain("hunter2").contains("\"retryable\":false");
        HttpResponse retry = api.send(keyed("k"));
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers().first("Idempotent-Replayed")).contains("true");
        assertThat(api.runs).hasValue(1);
    }

    @Test
    void workThatThrowsIsReleasedWhereTheRouteSaysSo() {
        use(Api.with(Policy.defaults(), RELEASING));
        HttpResponse first = api.run(
                keyed("k"), operation -> CompletableFuture.failedFuture(new IllegalStateException("password=hunter2")));
        assertProblem(first, Problem.INTERNAL);
        assertThat(first.headers().contains("Hapax-Operation-Id")).isTrue();
        assertThat(text(first)).doesNotContain("hunter2");
        assertThat(api.send(keyed("k")).status()).isEqualTo(201);
    }

    @Test
    void workWithoutAStageOrAResponseHasFailed() {
        assertProblemOfOperation(api.run(keyed("k"), operation -> null), Problem.OPERATION_FAILED);
        assertProblemOfOperation(
                api.run(keyed("k2"), operation -> CompletableFuture.completedFuture(null)), Problem.OPERATION_FAILED);
        assertProblemOfOperation(
                api.run(keyed("k3"), operation -> {
                    throw new StackOverflowError();
                }),
                Problem.OPERATION_FAILED);
    }

    @Test
    void problemOfTheWorkIsItsResponse() {
        HttpResponse first = api.run(keyed("k"), operation -> {
            throw new ProblemException(Problem.UPSTREAM_UNREACHABLE, "refused");
        });
        assertProblem(first, Problem.UPSTREAM_UNREACHABLE);
        assertThat(text(api.send(keyed("k")))).isEqualTo("run 1");
    }

    @ParameterizedTest
    @CsvSource({"402, 402", "599, 599", "0, 500", "200, 500", "600, 500"})
    void terminalFailureIsAnsweredWithItsCode(int code, int status) {
        Work failing = operation -> CompletableFuture.failedFuture(new TerminalFailure(code, "card 4242 declined"));
        HttpResponse first = api.run(keyed("k"), failing);
        HttpResponse retry = api.send(keyed("k"));
        assertThat(first.status()).isEqualTo(status);
        assertThat(text(first)).contains(Problem.OPERATION_FAILED.type()).doesNotContain("4242");
        assertThat(retry.status()).isEqualTo(status);
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers().first("Idempotent-Replayed")).contains("true");
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void policyThatMakesEverythingTerminalStillLetsAResponseThrough() {
        use(Api.with(Policy.defaults().terminalOn(thrown -> true), HttpPolicy.defaults()));
        assertThat(text(api.send(keyed("k"), run -> answer(503, "busy")))).isEqualTo("busy");
    }

    @Test
    void unknownOutcomeIsInDoubtForEverybody() {
        use(Api.with(Policy.defaults().whenAbandoned(WhenAbandoned.PARK), HttpPolicy.defaults()));
        assertProblemOfOperation(unknown(), Problem.IN_DOUBT);
        assertProblemOfOperation(api.send(keyed("k")), Problem.IN_DOUBT);
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void unknownOutcomeHasFailedForEverybody() {
        use(Api.with(Policy.defaults().whenAbandoned(WhenAbandoned.FAIL), HttpPolicy.defaults()));
        HttpResponse first = unknown();
        assertProblemOfOperation(first, Problem.OPERATION_FAILED);
        assertThat(text(first)).doesNotContain("10.0.0.7");
        assertThat(api.send(keyed("k")).body()).isEqualTo(first.body());
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void unknownOutcomeMayBeTriedAgain() {
        use(Api.with(Policy.defaults().whenAbandoned(WhenAbandoned.RERUN), HttpPolicy.defaults()));
        assertProblemOfOperation(unknown(), Problem.UPSTREAM_FAILED);
        assertThat(text(api.send(keyed("k")))).isEqualTo("run 1");
    }

    private HttpResponse unknown() {
        return api.run(
                keyed("k"),
                operation -> CompletableFuture.failedFuture(new OutcomeUnknownException("10.0.0.7 was reset", null)));
    }

    @Test
    void secondRequestIsToldToComeBack() throws Exception {
        CompletableFuture<HttpResponse> work = new CompletableFuture<>();
        CompletionStage<HttpResponse> first = begun(work);
        HttpResponse second = api.send(keyed("k"));
        assertProblemOfOperation(second, Problem.IN_PROGRESS);
        assertThat(second.headers().all("Retry-After")).containsExactly("1");
        work.complete(created("done"));
        assertThat(text(Api.get(first))).isEqualTo("done");
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void secondRequestIsToldWhereToAsk() throws Exception {
        use(Api.with(Policy.defaults().whenInFlight(WhenInFlight.ACCEPT), HttpPolicy.defaults()));
        CompletableFuture<HttpResponse> work = new CompletableFuture<>();
        CompletionStage<HttpResponse> first = begun(work);
        HttpResponse second = api.send(keyed("k"));
        assertThat(second.status()).isEqualTo(202);
        assertThat(second.headers().first("Retry-After")).contains("1");
        String id = second.headers().first("Hapax-Operation-Id").orElseThrow();
        assertThat(second.headers().first("Location")).contains("/.hapax/operations/" + id);
        assertThat(ProblemTest.member(api.look("/.hapax/operations/" + id), "/state"))
                .isEqualTo("processing");
        work.complete(created("done"));
        assertThat(text(Api.get(first))).isEqualTo("done");
    }

    @Test
    void secondRequestWaitsForTheFirst() throws Exception {
        use(Api.with(
                Policy.defaults().whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(20))),
                HttpPolicy.defaults()));
        CompletableFuture<HttpResponse> work = new CompletableFuture<>();
        CompletionStage<HttpResponse> first = begun(work);
        CompletionStage<HttpResponse> second = api.begin(keyed("k"), operation -> null);
        work.complete(created("done"));
        assertThat(text(Api.get(first))).isEqualTo("done");
        assertThat(text(Api.get(second))).isEqualTo("done");
        assertThat(Api.get(second).headers().first("Idempotent-Replayed")).contains("true");
    }

    private CompletionStage<HttpResponse> begun(CompletableFuture<HttpResponse> work) throws Exception {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletionStage<HttpResponse> response = api.begin(keyed("k"), operation -> {
            begun.complete(null);
            return work;
        });
        begun.get(60, TimeUnit.SECONDS);
        return response;
    }

    @Test
    void tooLargeResponseIsNotKeptAndNeverRunsAgain() {
        use(Api.with(Policy.defaults().maxBody(10), HttpPolicy.defaults()));
        assertThat(api.send(keyed("k"), run -> answer(201, "12345678901")).body())
                .hasSize(11);
        HttpResponse retry = api.send(keyed("k"));
        assertProblemOfOperation(retry, Problem.RESPONSE_NOT_STORED);
        assertThat(ProblemTest.member(retry, "/original_status")).isEqualTo("201");
        assertThat(api.runs).hasValue(1);
        Match match = api.http.match("POST", Api.PATH, Headers.NONE).orElseThrow();
        assertThat(api.http.maxBody(match)).isEqualTo(10);
    }

    @Test
    void restOfAResponseReachesItsCallerAndIsNotKept() {
        Object rest = new Object();
        HttpResponse first = api.send(keyed("k"), run -> new HttpResponse(200, Headers.NONE, Api.bytes("begin"), rest));
        assertThat(first.rest()).isSameAs(rest);
        assertProblemOfOperation(api.send(keyed("k")), Problem.RESPONSE_NOT_STORED);
    }

    @Test
    void whatAnUpstreamSaysOfReplaysIsNotPassedOn() {
        HttpResponse first = api.send(
                keyed("k"),
                run -> created(
                        "one", "idempotent-replayed", "true", "HAPAX-RECORDED", "false", "Hapax-Operation-Id", "x"));
        assertThat(first.headers().fields()).hasSize(1);
        assertThat(first.headers().first("Hapax-Operation-Id")).get().isNotEqualTo("x");
    }

    @Test
    void storeThatCannotBeReachedIsAReasonToRefuse() {
        use(Api.on(
                FailingStore.onClaim(new StoreUnavailableException("db-7 is down", null)),
                Policy.defaults(),
                HttpPolicy.defaults()));
        HttpResponse response = api.send(keyed("k"));
        assertProblemOfOperation(response, Problem.STORE_UNAVAILABLE);
        assertThat(response.headers().contains("Retry-After")).isTrue();
        assertThat(text(response)).doesNotContain("db-7");
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void storeThatFailsOtherwiseIsAnInternalError() {
        use(Api.on(
                FailingStore.onClaim(new StoreException("relation hapax_operation does not exist", null)),
                Policy.defaults(),
                HttpPolicy.defaults()));
        HttpResponse response = api.send(keyed("k"));
        assertProblemOfOperation(response, Problem.INTERNAL);
        assertThat(text(response)).doesNotContain("hapax_operation");
        assertThat(api.runs).hasValue(0);
    }

    @Test
    void unrecordedResponseSaysSo() {
        Policy policy = Policy.defaults().lease(Duration.ofMillis(300));
        use(Api.on(FailingStore.onFinish(new StoreUnavailableException("gone", null)), policy, HttpPolicy.defaults()));
        HttpResponse response = api.send(keyed("k"));
        assertThat(text(response)).isEqualTo("run 1");
        assertThat(response.headers().first("Hapax-Recorded")).contains("false");
    }

    @Test
    void openPolicyRunsWithoutAStoreAndSaysSo() {
        use(Api.on(
                FailingStore.onClaim(new StoreUnavailableException("gone", null)),
                Policy.defaults().onStoreFailure(OnStoreFailure.OPEN),
                HttpPolicy.defaults()));
        HttpResponse response = api.send(keyed("k"));
        assertThat(text(response)).isEqualTo("run 1");
        assertThat(response.headers().first("Hapax-Recorded")).contains("false");
    }

    @Test
    void lostClaimIsToldToComeBack() {
        use(Api.on(FailingStore.losingClaims(), Policy.defaults(), HttpPolicy.defaults()));
        HttpResponse response = api.send(keyed("k"));
        assertProblemOfOperation(response, Problem.CLAIM_LOST);
        assertThat(response.headers().contains("Retry-After")).isTrue();
    }

    @Test
    void refusedExecutorIsNoFailureOfTheWork() {
        Match match = api.http.match("POST", Api.PATH, Headers.NONE).orElseThrow();
        HttpResponse refused = Api.get(api.http.run(match, keyed("k"), operation -> null, task -> {
            throw new RejectedExecutionException("full");
        }));
        assertProblemOfOperation(refused, Problem.OVERLOADED);
        assertThat(text(api.send(keyed("k")))).isEqualTo("run 1");
    }

    @Test
    void unprotectedWorkMayBeRefusedByItsExecutorToo() {
        use(Api.with(Policy.defaults(), policy(false, ServerErrors.STORE)));
        Match match = api.http.match("POST", Api.PATH, Headers.NONE).orElseThrow();
        assertProblem(
                Api.get(api.http.run(match, request("b"), operation -> null, task -> {
                    throw new RejectedExecutionException("full");
                })),
                Problem.OVERLOADED);
    }

    @Test
    void windowMakesARepeatANewOperation() {
        ManualClock clock = new ManualClock();
        KeySource.BodyHash hash = new KeySource.BodyHash(List.of(), "Idempotency-Intent", new byte[0]);
        use(Api.on(
                new MemoryStore(clock),
                Policy.signup().window(Duration.ofSeconds(10)),
                Api.route(hash, HttpPolicy.defaults())));
        assertThat(text(api.send(request("b")))).isEqualTo("run 1");
        clock.advance(Duration.ofSeconds(9));
        assertThat(text(api.send(request("b")))).isEqualTo("run 1");
        assertThat(text(api.send(request("b", "Idempotency-Intent", "again")))).isEqualTo("run 2");
        clock.advance(Duration.ofSeconds(2));
        assertThat(text(api.send(request("b")))).isEqualTo("run 3");
    }

    @Test
    void newOperationUnderAnOldKeyHasItsOwnKeyUpstream() {
        ManualClock clock = new ManualClock();
        use(Api.on(new MemoryStore(clock), Policy.defaults().window(Duration.ofSeconds(10)), HttpPolicy.defaults()));
        api.send(keyed("k"));
        clock.advance(Duration.ofSeconds(10));
        AtomicReference<Operation> told = new AtomicReference<>();
        api.run(keyed("k"), operation -> {
            told.set(operation);
            return CompletableFuture.completedFuture(created("x"));
        });

        assertThat(told.get().headers().first("Idempotency-Key")).contains("\"k#2\"");
        assertThat(told.get().headers().first("Hapax-Generation")).contains("2");
    }

    @Test
    void routeNeedsADeclaredScope() {
        try (Hapax empty = Hapax.on(new MemoryStore()).withoutSweeper().build()) {
            Routes routes = new Routes(List.of(Api.route(KeySource.Header.DEFAULT, HttpPolicy.defaults())));
            assertThatThrownBy(() -> new HttpIdempotency(empty, routes, new TenantSource.None()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(Api.SCOPE);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "999, 1", "1000, 1", "1001, 2", "29999, 30"})
    void secondsAreRoundedUp(long millis, String seconds) {
        assertThat(Answers.seconds(Duration.ofMillis(millis))).isEqualTo(seconds);
    }
}
