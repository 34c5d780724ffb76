package dev.hapax.messaging.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.PublishResult.Failed;
import dev.hapax.outbox.PublishResult.Published;
import dev.hapax.outbox.PublishResult.Refused;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.RequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResultEntry;
import software.amazon.awssdk.services.sqs.model.SqsException;

@Timeout(120)
class SqsPublisherTest {
    private final ElasticMq sqs = ElasticMq.shared();
    private final String queue = sqs.newQueue();
    private final String fifo = sqs.newFifoQueue();
    private final SqsPublisher publisher =
            SqsPublisher.to(sqs.client(), Map.of("orders", queue, "ordered", fifo, "gone", queue + "-gone")::get);

    private static OutboxMessage message(String topic, String body) {
        return OutboxMessage.to(topic, body.getBytes(StandardCharsets.UTF_8));
    }

    private List<PublishResult> publish(OutboxMessage... messages) {
        return publish(publisher, messages);
    }

    private static List<PublishResult> publish(SqsPublisher publisher, OutboxMessage... messages) {
        return publish(publisher, Duration.ofMinutes(2), messages);
    }

    private static List<PublishResult> publish(SqsPublisher publisher, Duration timeout, OutboxMessage... messages) {
        return publisher
                .publish(List.of(messages).stream()
                        .map(it -> new Outgoing(it, Instant.now(), 1, timeout))
                        .toList())
                .stream()
                .map(SqsPublisherTest::result)
                .toList();
    }

    private static PublishResult result(CompletionStage<PublishResult> stage) {
        try {
            return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void publishedMessageHasIdAggregateAndHeaders() {
        OutboxMessage message = message("orders", "hello").aggregate("order-42").header("type", "OrderPlaced");
        assertThat(publish(message)).containsExactly(new Published());

        Message got = sqs.takeAll(queue).get("hello");
        SqsMessage seen = new SqsMessage(got);
        assertThat(seen.attribute(Outgoing.ID_HEADER)).isEqualTo(message.id().toString());
        assertThat(seen.attribute(Outgoing.AGGREGATE_HEADER)).isEqualTo("order-42");
        assertThat(seen.attribute("type")).isEqualTo("OrderPlaced");
    }

    @Test
    void fifoQueueDeduplicatesByIdAndGroupsByAggregate() throws Exception {
        OutboxMessage message = message("ordered", "hello").aggregate("order-42");
        assertThat(publish(message)).containsExactly(new Published());
        assertThat(publish(message)).containsExactly(new Published());

        List<Message> got = sqs.client()
                .receiveMessage(it -> it.queueUrl(fifo)
                        .maxNumberOfMessages(10)
                        .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
                .get(60, TimeUnit.SECONDS)
                .messages();
        assertThat(got).hasSize(1);
        SqsMessage seen = new SqsMessage(got.get(0));
        assertThat(seen.groupId()).isEqualTo("order-42");
        assertThat(seen.deduplicationId()).isEqualTo(message.id().toString());
    }

    @Test
    void manyMessagesArePublishedInBatches() {
        OutboxMessage[] many = IntStream.range(0, 105)
                .mapToObj(i -> message("orders", "m" + i + "x".repeat(i == 50 ? 200_000 : 1_000)))
                .toArray(OutboxMessage[]::new);
        assertThat(publish(many)).hasSize(105).containsOnly(new Published());
        assertThat(sqs.size(queue)).isEqualTo(105);
    }

    @Test
    void unsupportedMessageIsRefusedAloneInItsBatch() {
        OutboxMessage crowded = message("orders", "hello");
        for (int i = 0; i < 10; i++) {
            crowded = crowded.header("h" + i, "v");
        }
        List<PublishResult> results = publish(
                message("orders", "1"),
                message("orders", ""),
                OutboxMessage.to("orders", new byte[] {(byte) 0xFF, 0}),
                crowded,
                message("orders", "hello").header("empty", ""),
                message("orders", "2"));
        assertThat(results.get(0)).isInstanceOf(Published.class);
        assertThat(results.subList(1, 5)).allSatisfy(it -> assertThat(it).isInstanceOf(Refused.class));
        assertThat(results.get(5)).isInstanceOf(Published.class);
        assertThat(sqs.takeAll(queue)).containsOnlyKeys("1", "2");
    }

    @Test
    void messageWithoutReachableQueueFails() {
        assertThat(publish(message("unknown", "1"), message("gone", "1")))
                .allSatisfy(it -> assertThat(it).isInstanceOf(Failed.class));
        try (SqsAsyncClient nowhere = ElasticMq.client(1)) {
            SqsPublisher lost = SqsPublisher.to(nowhere, topic -> queue);
            assertThat(publish(lost, message("orders", "1")).get(0)).isInstanceOf(Failed.class);
        }
    }

    @Test
    void failedLookupFailsOnlyItsOwnMessage() {
        SqsPublisher lookup = SqsPublisher.to(sqs.client(), topic -> switch (topic) {
            case "orders" -> queue;
            case "error" -> throw new AssertionError("an Error, not an exception");
            default -> throw new IllegalStateException("the table of queues is away");
        });

        List<PublishResult> results = publish(
                lookup, message("orders", "1"), message("broken", "2"), message("error", "3"), message("orders", "4"));

        assertThat(results.get(0)).isInstanceOf(Published.class);
        assertThat(results.subList(1, 3)).allSatisfy(it -> assertThat(it).isInstanceOf(Failed.class));
        assertThat(results.get(3)).isInstanceOf(Published.class);
        assertThat(sqs.takeAll(queue)).containsOnlyKeys("1", "4");
    }

    /** Wrong credentials, a wrong address or a disabled key are repaired, and then the messages are to be sent. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "InvalidClientTokenId",
                "InvalidSignatureException",
                "InvalidAddress",
                "InvalidSecurity",
                "KmsInvalidState",
                "KMS.KMSInvalidStateException",
                "AccessDenied",
                "AWS.SimpleQueueService.NonExistentQueue",
                "AWS.SimpleQueueService.UnsupportedOperation",
                "RequestThrottled",
                "InternalError"
            })
    void errorThatIsNotAboutContentIsRetried(String code) {
        assertThat(publish(SqsPublisher.to(answering(refusal(code)), topic -> queue), message("orders", "1")))
                .allSatisfy(it -> assertThat(it).isInstanceOf(Failed.class));
        assertThat(publish(SqsPublisher.to(answering(entry(code)), topic -> queue), message("orders", "1")))
                .allSatisfy(it -> assertThat(it).isInstanceOf(Failed.class));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "InvalidMessageContents",
                "AWS.SimpleQueueService.InvalidMessageContents",
                "BatchRequestTooLong",
                "AWS.SimpleQueueService.BatchRequestTooLong"
            })
    void errorAboutContentIsRefused(String code) {
        assertThat(publish(SqsPublisher.to(answering(refusal(code)), topic -> queue), message("orders", "1")))
                .allSatisfy(it -> assertThat(it).isInstanceOf(Refused.class));
    }

    /** What SQS says of one entry that is larger than the queue takes. */
    @Test
    void entryWithInvalidParameterIsRefused() {
        assertThat(publish(
                        SqsPublisher.to(answering(entry("InvalidParameterValue")), topic -> queue),
                        message("orders", "1")))
                .allSatisfy(it -> assertThat(it).isInstanceOf(Refused.class));
    }

    @Test
    void batchRefusedForItsContentIsSentOneByOne() {
        SqsAsyncClient picky = answering(request ->
                request.entries().stream().anyMatch(it -> it.messageBody().equals("bad"))
                        ? refusal("InvalidMessageContents").apply(request)
                        : success(request));

        List<PublishResult> results = publish(
                SqsPublisher.to(picky, topic -> queue),
                message("orders", "1"),
                message("orders", "bad"),
                message("orders", "2"));

        assertThat(results.get(0)).isInstanceOf(Published.class);
        assertThat(results.get(1)).isInstanceOf(Refused.class);
        assertThat(results.get(2)).isInstanceOf(Published.class);
    }

    /** The relay has given up on them and sends them again: sending the old copies as well would be duplicates. */
    @Test
    void batchIsNotSentAgainAfterItsTimeout() {
        AtomicInteger requests = new AtomicInteger();
        Duration timeout = Duration.ofMillis(100);
        Executor afterTimeout =
                CompletableFuture.delayedExecutor(2 * timeout.toMillis(), TimeUnit.MILLISECONDS, Runnable::run);
        SqsAsyncClient slow = answering(request -> {
            requests.incrementAndGet();
            return CompletableFuture.supplyAsync(() -> request, afterTimeout)
                    .thenCompose(refusal("InvalidMessageContents"));
        });

        assertThat(publish(
                        SqsPublisher.to(slow, topic -> queue), timeout, message("orders", "1"), message("orders", "2")))
                .allSatisfy(it -> assertThat(it).isInstanceOf(Failed.class));
        assertThat(requests).hasValue(1);
    }

    @Test
    void requestEndsWithTimeoutOfItsMessages() {
        List<Duration> timeouts = new CopyOnWriteArrayList<>();
        SqsAsyncClient client = answering(request -> {
            timeouts.add(request.overrideConfiguration()
                    .flatMap(RequestOverrideConfiguration::apiCallTimeout)
                    .orElseThrow());
            return success(request);
        });

        publish(SqsPublisher.to(client, topic -> queue), Duration.ofMinutes(3), message("orders", "1"));

        assertThat(timeouts)
                .singleElement()
                .satisfies(it -> assertThat(it).isPositive().isLessThanOrEqualTo(Duration.ofMinutes(3)));
    }

    @Test
    void messageThatSqsDoesNotMentionHasFailed() {
        SqsAsyncClient silent = answering(request -> CompletableFuture.completedFuture(
                SendMessageBatchResponse.builder().build()));
        SqsAsyncClient empty = answering(request -> CompletableFuture.completedFuture(null));

        for (SqsAsyncClient client : List.of(silent, empty)) {
            assertThat(publish(SqsPublisher.to(client, topic -> queue), message("orders", "1")))
                    .allSatisfy(it -> assertThat(it).isInstanceOf(Failed.class));
        }
    }

    private interface Answer extends Function<SendMessageBatchRequest, CompletableFuture<SendMessageBatchResponse>> {}

    private static CompletableFuture<SendMessageBatchResponse> success(SendMessageBatchRequest request) {
        return CompletableFuture.completedFuture(SendMessageBatchResponse.builder()
                .successful(request.entries().stream()
                        .map(it -> SendMessageBatchResultEntry.builder()
                                .id(it.id())
                                .build())
                        .toList())
                .build());
    }

    private static Answer refusal(String code) {
        return request -> CompletableFuture.failedFuture(SqsException.builder()
                .awsErrorDetails(AwsErrorDetails.builder().errorCode(code).build())
                .build());
    }

    private static Answer entry(String code) {
        return request -> CompletableFuture.completedFuture(SendMessageBatchResponse.builder()
                .failed(BatchResultErrorEntry.builder()
                        .id("0")
                        .code(code)
                        .message("no")
                        .senderFault(true)
                        .build())
                .build());
    }

    /** A client that only sends batches, and gets this answer. */
    private static SqsAsyncClient answering(Answer answer) {
        return new SqsAsyncClient() {
            @Override
            public CompletableFuture<SendMessageBatchResponse> sendMessageBatch(SendMessageBatchRequest request) {
                return answer.apply(request);
            }

            @Override
            public String serviceName() {
                return SERVICE_NAME;
            }

            @Override
            public void close() {}
        };
    }
}
