package dev.hapax.messaging.sqs;

import dev.hapax.messaging.Disposition.Reject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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

/** What a consumer asks of SQS. Safe for use by many threads; nothing here blocks. */
final class Requests {
    private static final int BAD_REQUEST = 400;
    private static final int MOST_ATTRIBUTES = 10;
    private static final int LONGEST_REASON = 1000;

    private final SqsAsyncClient client;
    private final String queueUrl;
    private final int waitSeconds;
    private final int visibilitySeconds;
    private final Batches<String> deletes = new Batches<>("Deleting", this::deleteAll);
    private final Batches<Hiding> hidings = new Batches<>("Changing the visibility", this::hideAll);

    Requests(SqsConsumerLoop.Builder settings) {
        this.client = settings.client;
        this.queueUrl = settings.queueUrl;
        this.waitSeconds = (int) settings.waitTime.toSeconds();
        this.visibilitySeconds = (int) settings.visibility.toSeconds();
    }

    private record Hiding(String handle, int seconds) {}

    CompletableFuture<List<SqsMessage>> receive(int most) {
        return asked(() -> client.receiveMessage(it -> it.queueUrl(queueUrl)
                        .maxNumberOfMessages(most)
                        .waitTimeSeconds(waitSeconds)
                        .visibilityTimeout(visibilitySeconds)
                        .messageSystemAttributeNames(MessageSystemAttributeName.ALL)
                        .messageAttributeNames("All")))
                .thenApply(ReceiveMessageResponse::messages)
                .thenApply(messages -> messages.stream().map(SqsMessage::new).toList());
    }

    /** A client that was closed throws instead of failing. */
    private static <T> CompletableFuture<T> asked(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException broken) {
            return CompletableFuture.failedFuture(broken);
        }
    }

    CompletableFuture<Boolean> delete(Received it) {
        return deletes.add(it.handle());
    }

    /** Hides it from others from now on, for this long. */
    CompletableFuture<Boolean> hide(Received it, Duration time) {
        return hidings.add(
                new Hiding(it.handle(), (int) Math.min(time.plusMillis(999).toSeconds(), 43_200)));
    }

    CompletableFuture<Boolean> keepHidden(Received it) {
        return hide(it, Duration.ofSeconds(visibilitySeconds));
    }

    /** Sends what has gathered. */
    void flush() {
        deletes.send();
        hidings.send();
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

    private CompletableFuture<List<BatchResultErrorEntry>> hideAll(List<Hiding> hidden) {
        List<ChangeMessageVisibilityBatchRequestEntry> entries = new ArrayList<>();
        for (Hiding one : hidden) {
            entries.add(ChangeMessageVisibilityBatchRequestEntry.builder()
                    .id(Integer.toString(entries.size()))
                    .receiptHandle(one.handle())
                    .visibilityTimeout(one.seconds())
                    .build());
        }
        return client.changeMessageVisibilityBatch(it -> it.queueUrl(queueUrl).entries(entries))
                .thenApply(ChangeMessageVisibilityBatchResponse::failed);
    }

    /** Sends a dead letter; where there is no room for our attributes, without them. */
    CompletableFuture<?> bury(String deadLetterUrl, SqsMessage message, String consumer, Reject reject) {
        Map<String, MessageAttributeValue> attributes =
                new HashMap<>(message.message().messageAttributes());
        attributes.put(DeadLetters.REASON, text(reject.reason()));
        attributes.put(DeadLetters.CONSUMER, text(consumer));
        if (attributes.size() > MOST_ATTRIBUTES) {
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
        String deduplicationId = message.deduplicationId();
        return asked(() -> client.sendMessage(it -> {
                    it.queueUrl(url).messageBody(original.body()).messageAttributes(attributes);
                    if (isFifo(url)) {
                        it.messageGroupId(message.groupId() == null ? message.messageId() : message.groupId())
                                .messageDeduplicationId(
                                        deduplicationId == null ? message.messageId() : deduplicationId);
                    }
                }))
                .thenApply(sent -> sent);
    }

    private static boolean isBadRequest(Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof AwsServiceException refused && refused.statusCode() == BAD_REQUEST;
    }

    private static MessageAttributeValue text(String value) {
        String cut = value.substring(0, Math.min(value.length(), LONGEST_REASON));
        return MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(SqsText.isText(cut) ? cut : SqsText.replaced(cut))
                .build();
    }

    static boolean isFifo(String queueUrl) {
        return queueUrl.endsWith(".fifo");
    }
}
