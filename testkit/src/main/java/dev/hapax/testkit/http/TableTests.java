package dev.hapax.testkit.http;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.testkit.http.Probe.Request;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What each situation answers: the table of the HTTP semantics, row by row. */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
interface TableTests extends HttpTests {

    @Test
    default void aFreshRequestGetsTheHandlersResponse() {
        Request charge = http().post("/contract/charges").header("App-Header", "Set-Cookie=session=1");

        Answer answer = charge.send().assertRan(201);

        assertThat(answer.text()).contains("\"execution\"");
        assertThat(answer.header("Content-Type")).isEqualTo("application/json");
        assertThat(answer.header("Set-Cookie")).isEqualTo("session=1");
        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void aRetryOfAFinishedRequestGetsTheStoredResponse() {
        Request charge = http().post("/contract/charges");
        Answer first = charge.send().assertRan(201);

        charge.send().assertReplays(first);
        charge.through(someoneElse()).send().assertReplays(first);
        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void aRequestWithoutAKeyIsRefused() {
        Request charge = http().keyless("/contract/charges");

        charge.send().assertProblem(400, "key-missing", false);

        assertThat(charge.runs()).isZero();
    }

    @Test
    default void aMalformedKeyIsRefused() {
        for (String key :
                List.of("\"\"", "\"open", "\"a b\"", "k".repeat(256), "\"" + "k".repeat(256) + "\"", "\"a\"b\"")) {
            Request charge = http().post("/contract/charges").key(key);

            charge.send().assertProblem(400, "key-invalid", false);

            assertThat(charge.runs()).isZero();
        }
    }

    @Test
    default void aKeySentTwiceIsRefused() {
        Request twice = http().post("/contract/charges").header("Idempotency-Key", "\"another\"");
        Request listed = http().post("/contract/charges").key("\"one\", \"two\"");

        twice.send().assertProblem(400, "key-invalid", false);
        listed.send().assertProblem(400, "key-invalid", false);

        assertThat(twice.runs() + listed.runs()).isZero();
    }

    @Test
    default void theSameKeyWithAnotherRequestIsRefused() {
        Request charge = http().post("/contract/charges");
        Answer first = charge.send().assertRan(201);

        Answer other = charge.json("{\"amount\": 1}").send();

        other.assertProblem(422, "key-reused", false).assertKnown();
        assertThat(other.operationId()).isEqualTo(first.operationId());
        assertThat(charge.runs()).isEqualTo(1);
        charge.send().assertReplays(first);
    }

    @Test
    default void theSameKeyWithAnotherRequestIsRefusedWhileTheFirstOneRuns() throws Exception {
        Request charge = http().post("/contract/charges");
        try (Hold hold = charge.hold()) {
            CompletableFuture<Answer> first = charge.sendAsync();
            hold.awaitEntered();

            charge.json("{\"amount\": 1}")
                    .send()
                    .assertProblem(422, "key-reused", false)
                    .assertKnown();

            hold.release();
            first.get(60, SECONDS).assertRan(201);
        }
    }

    @Test
    default void aRetryOfARunningRequestIsToldToComeBack() throws Exception {
        Request charge = http().post("/contract/charges");
        try (Hold hold = charge.hold()) {
            CompletableFuture<Answer> first = charge.sendAsync();
            hold.awaitEntered();

            Answer conflict = charge.send();
            conflict.assertProblem(409, "in-progress", true).assertRetryAfter().assertKnown();
            assertThat(conflict.member("operation_id")).isEqualTo(conflict.operationId());

            hold.release();
            charge.sendUntilReplayed().assertReplays(first.get(60, SECONDS).assertRan(201));
            assertThat(charge.runs()).isEqualTo(1);
        }
    }

    @Test
    default void aRetryWaitsForARunningRequestWhereThePolicySaysSo() throws Exception {
        Request charge = http().post("/contract/wait");
        try (Hold hold = charge.hold()) {
            CompletableFuture<Answer> first = charge.sendAsync();
            hold.awaitEntered();
            CompletableFuture<Answer> second = charge.sendAsync();
            await().during(Duration.ofMillis(200)).until(() -> !second.isDone());

            hold.release();

            second.get(60, SECONDS).assertReplays(first.get(60, SECONDS).assertRan(201));
            assertThat(charge.runs()).isEqualTo(1);
        }
    }

    @Test
    default void aRetryWaitsNoLongerThanThePolicySays() throws Exception {
        Request charge = http().post("/contract/wait-briefly");
        try (Hold hold = charge.hold()) {
            CompletableFuture<Answer> first = charge.sendAsync();
            hold.awaitEntered();

            charge.send().assertProblem(409, "in-progress", true).assertRetryAfter();

            hold.release();
            first.get(60, SECONDS).assertRan(201);
        }
    }

    @Test
    default void aRetryOfARunningRequestIsAcceptedWhereThePolicySaysSo() throws Exception {
        Request charge = http().post("/contract/accept");
        try (Hold hold = charge.hold()) {
            CompletableFuture<Answer> first = charge.sendAsync();
            hold.awaitEntered();

            Answer accepted = charge.send().assertRetryAfter().assertKnown();
            assertThat(accepted.status()).isEqualTo(202);
            assertThat(accepted.header("Location")).isEqualTo("/.hapax/operations/" + accepted.operationId());
            assertThat(http().get(accepted.header("Location"))
                            .send()
                            .assertRetryAfter()
                            .status())
                    .isEqualTo(200);

            hold.release();
            charge.sendUntilReplayed().assertReplays(first.get(60, SECONDS).assertRan(201));
        }
    }

    @Test
    default void anUnknownOutcomeLeavesTheOperationInDoubt() {
        Request charge = http().post("/contract/charges").header("App-Hangup", "true");

        charge.send().assertProblem(409, "in-doubt", false).assertKnown();
        charge.send().assertProblem(409, "in-doubt", false).assertKnown();

        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void anUnknownOutcomeIsAFailureWhereThePolicySaysSo() {
        Request charge = http().post("/contract/abandoned-fails").header("App-Hangup", "true");

        Answer first = charge.send().assertKnown();
        Answer second = charge.send().assertKnown();

        assertThat(first.status()).isGreaterThanOrEqualTo(500);
        assertThat(first.member("retryable")).isEqualTo("false");
        assertThat(second.status()).isEqualTo(first.status());
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void anUnknownOutcomeRunsAgainWhereThePolicySaysSo() {
        Request charge = http().post("/contract/abandoned-reruns");

        charge.header("App-Hangup", "true")
                .send()
                .assertProblem(502, "upstream-failed", true)
                .assertKnown();
        charge.send().assertRan(201);

        assertThat(charge.runs()).isEqualTo(2);
    }

    @Test
    default void aResponseTooLargeToKeepIsSentOnceAndNeverRunsAgain() {
        for (Request large : List.of(
                http().post("/contract/small").header("App-Body", "binary"),
                http().post("/contract/small").header("App-Body", "chunked"),
                http().post("/contract/charges").header("App-Body", "larger"))) {
            Answer first = large.send().assertRan(201);
            assertThat(first.body()).hasSizeGreaterThan(1024);

            for (int i = 0; i < 2; i++) {
                Answer retry = large.send().assertProblem(409, "response-not-stored", false);
                assertThat(retry.assertKnown().member("original_status")).isEqualTo("201");
            }
            assertThat(large.runs()).isEqualTo(1);
        }
    }

    @Test
    default void nothingRunsWhileTheStoreCannotBeReached() {
        Request charge = http().post("/contract/charges");
        http().subject().cutStore();
        try {
            charge.send()
                    .assertProblem(503, "store-unavailable", true)
                    .assertRetryAfter()
                    .assertKnown();
            assertThat(charge.runs()).isZero();
        } finally {
            http().subject().mendStore();
        }

        Answer first = await().atMost(Duration.ofSeconds(30)).until(charge::send, answer -> answer.status() != 503);
        charge.send().assertReplays(first.assertRan(201));
        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void aResponseThatCouldNotBeRecordedSaysSo() throws Exception {
        Request charge = http().post("/contract/short-lease");
        try (Hold hold = charge.hold()) {
            CompletableFuture<Answer> first = charge.sendAsync();
            hold.awaitEntered();
            http().subject().cutStore();
            hold.release();

            Answer answer = first.get(60, SECONDS).assertRan(201);
            assertThat(answer.header("Hapax-Recorded")).isEqualTo("false");
        } finally {
            http().subject().mendStore();
        }
    }

    @Test
    default void whatAProblemMeansCanBeReadWhereItsLinkPoints() {
        Answer refused = http().keyless("/contract/charges").send();
        String link = refused.header("Link").replaceFirst("^<(.*)>.*$", "$1");

        Answer description = http().get(link).send();

        assertThat(description.status()).isEqualTo(200);
        assertThat(description.text()).contains("key-missing");
    }
}
