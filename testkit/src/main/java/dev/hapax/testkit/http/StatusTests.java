package dev.hapax.testkit.http;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.testkit.http.Probe.Request;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The status of an operation: {@code /.hapax/operations/{id}}. */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
interface StatusTests extends HttpTests {

    @Test
    default void aFinishedOperationShowsItsResponse() {
        Answer charge = http().post("/contract/charges").send().assertRan(201);

        Answer status = status(charge).send();

        assertThat(status.status()).isEqualTo(200);
        assertThat(status.header("Content-Type")).startsWith("application/json");
        assertThat(status.member("state")).isEqualToIgnoringCase("completed");
        assertThat(status.text()).contains("\"response\"").contains("201");
        assertThat(status.headers().firstValue("Retry-After")).isEmpty();
    }

    @Test
    default void aRunningOperationSaysWhenToAskAgain() throws Exception {
        Request charge = http().post("/contract/charges");
        try (Hold hold = charge.hold()) {
            CompletableFuture<Answer> first = charge.sendAsync();
            hold.awaitEntered();

            Answer status = status(charge.send()).send().assertRetryAfter();

            assertThat(status.status()).isEqualTo(200);
            assertThat(status.member("state")).isEqualToIgnoringCase("processing");
            hold.release();
            first.get(60, SECONDS);
        }
    }

    @Test
    default void anOperationInDoubtSaysSo() {
        Answer doubtful = http().post("/contract/charges")
                .header("App-Hangup", "true")
                .send()
                .assertKnown();

        Answer status = status(doubtful).send();

        assertThat(status.status()).isEqualTo(200);
        assertThat(status.member("state")).isEqualToIgnoringCase("in_doubt");
    }

    @Test
    default void anUnknownOperationIsNotFound() {
        http().get("/.hapax/operations/" + UUID.randomUUID()).send().assertProblem(404, "not-found", false);
        assertThat(http().get("/.hapax/operations/nonsense").send().status()).isEqualTo(404);
        assertThat(http().get("/.hapax/nonsense").send().status()).isEqualTo(404);
    }

    @Test
    default void anExpiredOperationIsGone() {
        Request brief = http().post("/contract/brief");
        Answer first = brief.send().assertRan(201);

        Answer gone =
                await().atMost(Duration.ofSeconds(30)).until(status(first)::send, answer -> answer.status() != 200);

        gone.assertProblem(410, "expired", false);
        brief.send().assertRan(201);
        assertThat(brief.runs()).isEqualTo(2);
    }

    @Test
    default void theStatusOfAnOperationChangesNothing() {
        Request charge = http().post("/contract/charges");
        Answer first = charge.send().assertRan(201);

        for (String method : new String[] {"POST", "PUT", "DELETE"}) {
            assertThat(status(first).method(method).send().status()).isBetween(400, 499);
        }

        charge.send().assertReplays(first);
    }

    private Request status(Answer answer) {
        return http().get("/.hapax/operations/" + answer.assertKnown().operationId());
    }
}
