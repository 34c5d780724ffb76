package dev.hapax.messaging.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;

@Timeout(30)
class RequestBatcherTest {
    private volatile boolean allIsWell;
    private final List<List<String>> calls = new CopyOnWriteArrayList<>();
    private final List<CompletableFuture<List<BatchResultErrorEntry>>> answers = new CopyOnWriteArrayList<>();
    private final RequestBatcher<String> batches = new RequestBatcher<>("Testing", entries -> {
        CompletableFuture<List<BatchResultErrorEntry>> answer = new CompletableFuture<>();
        calls.add(entries);
        answers.add(answer);
        if (allIsWell) {
            answer.complete(List.of());
        }
        return answer;
    });

    private static BatchResultErrorEntry failed(int id, boolean senderFault, String code) {
        return BatchResultErrorEntry.builder()
                .id("" + id)
                .senderFault(senderFault)
                .code(code)
                .build();
    }

    @Test
    void whatGathersWhileOneIsUnderWayTravelsTogether() {
        batches.add("a");
        batches.send();
        IntStream.range(0, 9).forEach(i -> batches.add("m" + i));
        batches.send();
        assertThat(calls).containsExactly(List.of("a"));
        answers.get(0).complete(List.of());
        assertThat(calls).hasSize(2);
        assertThat(calls.get(1)).hasSize(9);
    }

    @Test
    void fullRequestBatcherDoNotWait() {
        List<CompletableFuture<Boolean>> done = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            done.add(batches.add("m" + i));
        }
        batches.send();
        assertThat(calls).hasSize(2).allSatisfy(call -> assertThat(call).hasSize(10));
        answers.get(0).complete(List.of());
        answers.get(1).complete(List.of());
        answers.get(2).complete(List.of());
        assertThat(done).allSatisfy(it -> assertThat(it).isCompletedWithValue(true));
    }

    @Test
    void entriesThatFailedAreSentAgainAndTheOthersAreNot() {
        CompletableFuture<Boolean> good = batches.add("good");
        CompletableFuture<Boolean> unlucky = batches.add("unlucky");
        CompletableFuture<Boolean> throttled = batches.add("throttled");
        CompletableFuture<Boolean> wrong = batches.add("wrong");
        batches.send();
        allIsWell = true;
        answers.get(0)
                .complete(List.of(
                        failed(1, false, "InternalError"),
                        failed(2, true, "RequestThrottled"),
                        failed(3, true, "ReceiptHandleIsInvalid")));
        assertThat(good).isCompletedWithValue(true);
        assertThat(wrong).isCompletedWithValue(false);
        assertThat(unlucky.join()).isTrue();
        assertThat(throttled.join()).isTrue();
        List<String> again = new ArrayList<>();
        calls.subList(1, calls.size()).forEach(again::addAll);
        assertThat(again).containsExactlyInAnyOrder("unlucky", "throttled");
    }

    @Test
    void batchOfARequestThatThrowsIsSentAgain() {
        AtomicInteger requests = new AtomicInteger();
        RequestBatcher<String> throwing = new RequestBatcher<>("Testing", entries -> {
            if (requests.incrementAndGet() == 1) {
                throw new NoClassDefFoundError("of the client");
            }
            return CompletableFuture.completedFuture(List.of());
        });
        CompletableFuture<Boolean> done = throwing.add("a");
        throwing.send();

        assertThat(done).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(true);
    }

    @Test
    void entryThatItsCallerCompletedIsNotSent() {
        batches.add("a");
        batches.send();
        batches.add("b").complete(false);
        batches.add("c");
        batches.send();
        answers.get(0).complete(List.of());

        assertThat(calls).containsExactly(List.of("a"), List.of("c"));
    }

    @Test
    void aRequestThatFailsAltogetherIsSentAgain() {
        CompletableFuture<Boolean> done = batches.add("a");
        batches.send();
        allIsWell = true;
        answers.get(0).completeExceptionally(new IOException("reset"));
        assertThat(done.join()).isTrue();
        assertThat(calls).containsExactly(List.of("a"), List.of("a"));
    }
}
