package dev.hapax.messaging.sqs;

import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.internal.CompletionErrors;
import dev.hapax.messaging.internal.DeadLetterReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/** The requests of a consumer loop. Safe for use by many threads; no method blocks. */
final class Requests {
    private static final int BAD_REQUEST = 400;
    private static final int MAX_VISIBILITY_SECONDS = 43_200;
    private static final int MAX_ATTRIBUTES = 10;

    private final SqsAsyncClient client;
    private final String queueUrl;
    private final int waitSeconds;
    private final int visibilitySeconds;
    private final RequestBatcher<String> deletes = new RequestBatcher<>("Deleting", this::deleteAll);
    private final RequestBatcher<VisibilityChange> visibilityChanges =
            new RequestBatcher<>("Changing the visibility", this::changeAll);

    Requests(SqsConsumerLoop.Builder settings) {
        this.client = settings.client;
        this.queueUrl = settings.queueUrl;
        this.waitSeconds = (int) settings.waitTime.toSeconds();
        this.visibilitySeconds = (int) settings.visibility.toSeconds();
    }

    private record VisibilityChange(String receiptHandle, int seconds) {}

    String queueUrl() {
        return queueUrl;
    }

    CompletableFuture<List<SqsMessage>> receive(int max) {
        return request(() -> client.receiveMessage(it -> it.queueUrl(queueUrl)
                        .maxNumberOfMessages(max)
                        .waitTimeSeconds(waitSeconds)
                        .visibilityTimeout(visibilitySeconds)
                        .messageSystemAttributeNames(MessageSystemAttributeName.ALL)
                        .messageAttributeNames("All")))
                .thenApply(ReceiveMessageResponse::messages)
                .thenApply(messages -> messages.stream().map(SqsMessage::new).toList());
    }

    /** A client that was closed throws instead of failing. */
    private static <T> CompletableFuture<T> request(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException | Error broken) {
            return CompletableFuture.failedFuture(broken);
        }
    }

    CompletableFuture<Boolean> delete(SqsMessage message) {
        return deletes.add(message.receiptHandle());
    }

    /** Hides the message from others for this long from now on, in whole seconds, rounded up. */
    CompletableFuture<Boolean> changeVisibility(SqsMessage message, Duration hidden) {
        int seconds = (int) Math.min(hidden.plusMillis(999).toSeconds(), MAX_VISIBILITY_SECONDS);
        return visibilityChanges.add(new VisibilityChange(message.receiptHandle(), seconds));
    }

    CompletableFuture<Boolean> keepHidden(SqsMessage message) {
        return changeVisibility(message, Duration.ofSeconds(visibilitySeconds));
    }

    /** Sends the deletes and visibility changes that are pending. */
    void flush() {
        deletes.send();
        visibilityChanges.send();
    }

    private CompletableFuture<List<BatchResultErrorEntry>> deleteAll(List<String> handles) {
        List<DeleteMessageBatchRequestEntry> entries = new ArrayList<>();
        for (String handle : handles) {
            entries.add(DeleteMessageBatchRequestEntry.builder()
                    .id(Integer.toString(entries.size()))
                    .receiptHandle(handle)
                    .build());
        }
        return client.deleteMessageBatch(it -> it.queueUrl(queueUrl).entries(entries))
                .thenApply(DeleteMessageBatchResponse::failed);
    }

    private CompletableFuture<List<BatchResultErrorEntry>> changeAll(List<VisibilityChange> changes) {
        List<ChangeMessageVisibilityBatchRequestEntry> entries = new ArrayList<>();
        for (VisibilityChange change : changes) {
            entries.add(ChangeMessageVisibilityBatchRequestEntry.builder()
                    .id(Integer.toString(entries.size()))
                    .receiptHandle(change.receiptHandle())
                    .visibilityTimeout(change.seconds())
                    .build());
        }
        return client.changeMessageVisibilityBatch(it -> it.queueUrl(queueUrl).entries(entries))
                .thenApply(ChangeMessageVisibilityBatchResponse::failed);
    }

    /** Sends a dead letter; without our attributes where SQS has no room for them. */
    CompletableFuture<?> sendDeadLetter(String deadLetterUrl, SqsMessage message, String consumer, Reject reject) {
        Map<String, MessageAttributeValue> attributes =
                new HashMap<>(message.message().messageAttributes());
        attributes.put(DeadLetters.REASON, text(DeadLetterReason.truncate(reject.reason())));
        attributes.put(DeadLetters.CONSUMER, text(consumer));
        if (attributes.size() > MAX_ATTRIBUTES) {
            return send(deadLetterUrl, message, message.message().messageAttributes());
        }
        return send(deadLetterUrl, message, attributes)
                .exceptionallyCompose(error -> isBadRequest(error)
                        ? send(deadLetterUrl, message, message.message().messageAttributes())
                        : CompletableFuture.failedFuture(error));
    }

    private CompletableFuture<Object> send(
            String url, SqsMessage message, Map<String, MessageAttributeValue> attributes) {
        Message original = message.message();
        return request(() -> client.sendMessage(it -> {
                    it.queueUrl(url).messageBody(original.body()).messageAttributes(attributes);
                    if (isFifo(url)) {
                        it.messageGroupId(message.groupId() == null ? message.messageId() : message.groupId())
                                .messageDeduplicationId(deadLetterId(message));
                    }
                }))
                .thenApply(sent -> sent);
    }

    /**
     * The same for every send of this dead letter, and another one for every message. The message's own deduplication
     * id is not: messages of other queues, or one that was moved back into the queue, may have it as well, and SQS
     * would silently drop the second of their dead letters.
     */
    private static String deadLetterId(SqsMessage message) {
        String sentAt = message.message().attributes().get(MessageSystemAttributeName.SENT_TIMESTAMP);
        return sentAt == null ? message.messageId() : message.messageId() + "-" + sentAt;
    }

    private static boolean isBadRequest(Throwable error) {
        return CompletionErrors.cause(error) instanceof AwsServiceException refused
                && refused.statusCode() == BAD_REQUEST;
    }

    private static MessageAttributeValue text(String value) {
        return MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(SqsText.isText(value) ? value : SqsText.replaced(value))
                .build();
    }

    static boolean isFifo(String queueUrl) {
        return queueUrl.endsWith(".fifo");
    }
}
