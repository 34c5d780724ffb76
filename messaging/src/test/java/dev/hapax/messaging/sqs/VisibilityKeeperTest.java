package dev.hapax.messaging.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.messaging.queues.ConsumerFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.Message;

class VisibilityKeeperTest {
    private static final Duration VISIBILITY = Duration.ofSeconds(30);

    private final ConsumerFixture<SqsMessage> work = new ConsumerFixture<>(
            (name, hapax) -> SqsMessages.consumer(name, hapax).key(SqsMessages.messageId()), SqsMessage::body);
    private final SlowSqs sqs = new SlowSqs();
    private final Requests requests = new Requests(
            SqsConsumerLoop.of(sqs, work.consumer((message, lease) -> {})).visibility(VISIBILITY));
    private final VisibilityKeeper keeper = new VisibilityKeeper(requests, VISIBILITY);
    private final long start = System.nanoTime();

    @AfterEach
    void close() throws Exception {
        work.close();
    }

    /** Answers when the test does. */
    private static final class SlowSqs implements SqsAsyncClient {
        final List<List<String>> batches = new ArrayList<>();
        final List<CompletableFuture<ChangeMessageVisibilityBatchResponse>> answers = new ArrayList<>();

        @Override
        public CompletableFuture<ChangeMessageVisibilityBatchResponse> changeMessageVisibilityBatch(
                ChangeMessageVisibilityBatchRequest request) {
            batches.add(request.entries().stream()
                    .map(it -> it.receiptHandle() + " " + it.visibilityTimeout())
                    .toList());
            answers.add(new CompletableFuture<>());
            return answers.get(answers.size() - 1);
        }

        void answer(int batch) {
            answers.get(batch)
                    .complete(ChangeMessageVisibilityBatchResponse.builder().build());
        }

        @Override
        public String serviceName() {
            return SERVICE_NAME;
        }

        @Override
        public void close() {}
    }

    private ReceivedMessage received(String handle) {
        SqsMessage message =
                new SqsMessage(Message.builder().receiptHandle(handle).build());
        return new ReceivedMessage(message, null, start, VISIBILITY);
    }

    private void keepHidden(Duration after, ReceivedMessage... messages) {
        keeper.keepHidden(List.of(messages), start + after.toNanos());
        requests.flush();
    }

    @Test
    void renewalsDoNotPileUpWithoutAnswers() {
        ReceivedMessage message = received("a");
        for (int pass = 1; pass <= 5; pass++) {
            keepHidden(VISIBILITY.multipliedBy(pass), message);
        }
        sqs.answer(0);
        assertThat(sqs.batches).containsExactly(List.of("a 30"));

        keepHidden(VISIBILITY.multipliedBy(6), message);
        assertThat(sqs.batches).containsExactly(List.of("a 30"), List.of("a 30"));
    }

    @Test
    void shownMessageIsNotHiddenAgain() {
        ReceivedMessage first = received("a");
        ReceivedMessage shown = received("b");
        keepHidden(VISIBILITY, first);
        keepHidden(VISIBILITY.multipliedBy(2), shown);
        keeper.show(shown, Duration.ZERO);
        keepHidden(VISIBILITY.multipliedBy(3), shown);
        sqs.answer(0);

        assertThat(sqs.batches).containsExactly(List.of("a 30"), List.of("b 0"));
    }
}
