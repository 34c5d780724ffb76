package dev.hapax.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.testkit.AtOnce;
import dev.hapax.testkit.http.Probe.Request;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Clients that come in crowds, and clients that go away. */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
interface CrowdTests extends HttpTests {
    int ROUNDS = 10;
    int CONNECTIONS = 10;
    int REQUESTS_EACH = 10;

    @Test
    default void aStormOfEqualRequestsRunsOnce() throws Exception {
        assertStormRunsOnce("/contract/charges");
    }

    @Test
    default void aStormOfEqualRequestsRunsOnceWhereTheyWait() throws Exception {
        assertStormRunsOnce("/contract/wait");
    }

    private void assertStormRunsOnce(String path) throws Exception {
        List<Probe> probes =
                Stream.generate(this::someoneElse).limit(CONNECTIONS).toList();
        for (int round = 0; round < ROUNDS; round++) {
            Request charge = http().post(path);
            List<Callable<Answer>> storm = IntStream.range(0, CONNECTIONS * REQUESTS_EACH)
                    .mapToObj(n -> (Callable<Answer>)
                            () -> charge.through(probes.get(n % CONNECTIONS)).send())
                    .toList();

            List<Answer> answers = AtOnce.callAll(storm);

            assertThat(charge.runs()).isEqualTo(1);
            List<Answer> ran = answers.stream()
                    .filter(answer -> answer.status() == 201 && !answer.replayed())
                    .toList();
            assertThat(ran).hasSize(1);
            for (Answer answer : answers) {
                if (answer.status() == 409 && path.equals("/contract/charges")) {
                    answer.assertProblem(409, "in-progress", true).assertRetryAfter();
                } else if (answer.status() != 201 || answer.replayed()) {
                    answer.assertReplays(ran.get(0));
                }
            }
        }
    }

    @Test
    default void aClientThatGoesAwayDoesNotStopTheWork() {
        Request charge = http().post("/contract/charges");
        try (Hold hold = charge.hold()) {
            CompletableFuture<HttpResponse<byte[]>> impatient =
                    charge.through(someoneElse()).begin();
            hold.awaitEntered();
            impatient.cancel(true);
            assertThat(charge.send().status()).isEqualTo(409);

            hold.release();
        }

        Answer replay = await().until(charge::send, answer -> answer.status() != 409);
        assertThat(replay.status()).isEqualTo(201);
        assertThat(replay.replayed()).isTrue();
        assertThat(charge.runs()).isEqualTo(1);
    }
}
