package dev.hapax.messaging.sqs;

import dev.hapax.messaging.internal.CompletionErrors;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResultEntry;

/**
 * Publishes an outbox's messages to SQS, ten in a request. A message's id is the attribute {@link Outgoing#ID_HEADER};
 * in a FIFO queue it is the deduplication id as well, and the aggregate is the group.
 *
 * <p>SQS accepts text only, at least one character of it, and ten attributes at most: other messages are refused. Safe
 * for use by many threads. The client is not closed.
 */
public final class SqsPublisher implements Publisher {
    private static final int MAX_BATCH_SIZE = 10;
    private static final int MAX_BATCH_BYTES = 256 * 1024;
    private static final int MAX_ATTRIBUTES = 10;

    /**
     * The errors that the same message would get again. All others, wrong credentials or a missing queue among them,
     * can be repaired without changing the message.
     */
    private static final Set<String> CONTENT_ERRORS = Set.of("InvalidMessageContents", "BatchRequestTooLong");

    /** Clients and servers that speak SQS's query protocol put this before some of the codes. */
    private static final String QUERY_PREFIX = "AWS.SimpleQueueService.";

    /**
     * Of one entry: it is larger than its queue takes, or has an invalid attribute. Of a request it may be the queue.
     */
    private static final String INVALID_PARAMETER = "InvalidParameterValue";

    private final SqsAsyncClient client;
    private final Function<String, @Nullable String> queueUrls;

    private SqsPublisher(SqsAsyncClient client, Function<String, @Nullable String> queueUrls) {
        this.client = Objects.requireNonNull(client, "client");
        this.queueUrls = Objects.requireNonNull(queueUrls, "queueUrls");
    }

    /**
     * Publishes to the queue of a message's topic.
     *
     * @param queueUrls the URL for a topic, such as {@code urls::get}; messages whose topic has none, or whose look-up
     *     throws, fail and are retried
     */
    public static SqsPublisher to(SqsAsyncClient client, Function<String, @Nullable String> queueUrls) {
        return new SqsPublisher(client, queueUrls);
    }

    /**
     * A message in flight, and its result.
     *
     * @param until {@link System#nanoTime} when the relay gives up on it
     */
    private record Sending(
            Outgoing outgoing,
            long until,
            String text,
            Map<String, MessageAttributeValue> attributes,
            CompletableFuture<PublishResult> result) {

        int bytes() {
            int attributeBytes = attributes.entrySet().stream()
                    .mapToInt(it -> it.getKey().length()
                            + 3 * it.getValue().stringValue().length()
                            + 6)
                    .sum();
            return outgoing.message().body().length + attributeBytes;
        }
    }

    @Override
    public List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        List<CompletionStage<PublishResult>> results = new ArrayList<>();
        Map<String, List<Sending>> byUrl = new LinkedHashMap<>();
        long now = System.nanoTime();
        for (Outgoing outgoing : messages) {
            long until = now + outgoing.timeout().toNanos();
            CompletableFuture<PublishResult> result = new CompletableFuture<>();
            results.add(result);
            try {
                prepare(outgoing, until, result, byUrl);
            } catch (RuntimeException | Error e) { // its neighbours must not fail with it
                result.complete(PublishResult.failed(e));
            }
        }
        byUrl.forEach((url, sendings) -> batches(sendings).forEach(batch -> send(url, batch)));
        return results;
    }

    private void prepare(
            Outgoing outgoing, long until, CompletableFuture<PublishResult> result, Map<String, List<Sending>> byUrl) {
        OutboxMessage message = outgoing.message();
        String url = queueUrls.apply(message.topic());
        String text = text(message.body());
        Map<String, MessageAttributeValue> attributes = attributes(message);
        String refusal = refusal(text, attributes);
        if (url == null) {
            result.complete(PublishResult.failed("no queue is known for topic \"" + message.topic() + "\""));
        } else if (text == null || refusal != null) {
            result.complete(PublishResult.refused(String.valueOf(refusal)));
        } else {
            byUrl.computeIfAbsent(url, it -> new ArrayList<>())
                    .add(new Sending(outgoing, until, text, attributes, result));
        }
    }

    private static @Nullable String refusal(@Nullable String text, Map<String, MessageAttributeValue> attributes) {
        if (text == null) {
            return "the body is empty or not text that SQS takes";
        }
        if (attributes.size() > MAX_ATTRIBUTES) {
            return "%d headers, ours included; SQS takes %d".formatted(attributes.size(), MAX_ATTRIBUTES);
        }
        return attributes.entrySet().stream()
                .filter(it -> !SqsText.isText(it.getValue().stringValue()))
                .map(it -> "header \"%s\" is empty or not text that SQS takes".formatted(it.getKey()))
                .findFirst()
                .orElse(null);
    }

    private static @Nullable String text(byte[] body) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
            return SqsText.isText(text) ? text : null;
        } catch (CharacterCodingException notText) {
            return null;
        }
    }

    private static Map<String, MessageAttributeValue> attributes(OutboxMessage message) {
        Map<String, String> headers = new HashMap<>(message.headers());
        headers.put(Outgoing.ID_HEADER, message.id().toString());
        if (message.aggregate() != null) {
            headers.put(Outgoing.AGGREGATE_HEADER, message.aggregate());
        }
        return headers.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        it -> MessageAttributeValue.builder()
                                .dataType("String")
                                .stringValue(it.getValue())
                                .build()));
    }

    private static List<List<Sending>> batches(List<Sending> sendings) {
        List<List<Sending>> batches = new ArrayList<>();
        List<Sending> batch = new ArrayList<>();
        int bytes = 0;
        for (Sending sending : sendings) {
            boolean full = batch.size() == MAX_BATCH_SIZE || bytes + sending.bytes() > MAX_BATCH_BYTES;
            if (full && !batch.isEmpty()) {
                batches.add(batch);
                batch = new ArrayList<>();
                bytes = 0;
            }
            batch.add(sending);
            bytes += sending.bytes();
        }
        batches.add(batch);
        return batches;
    }

    /** Nothing is sent once the relay has given up on it: it makes another attempt. */
    private void send(String url, List<Sending> batch) {
        long now = System.nanoTime();
        long remaining = TimeUnit.NANOSECONDS.toMillis(
                batch.stream().mapToLong(it -> it.until() - now).min().orElse(0));
        if (remaining <= 0) {
            batch.forEach(
                    it -> it.result().complete(PublishResult.failed("not sent within the relay's publishTimeout")));
            return;
        }
        List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
        for (Sending sending : batch) {
            entries.add(entry(Integer.toString(entries.size()), sending, Requests.isFifo(url)));
        }
        try {
            client.sendMessageBatch(it -> it.queueUrl(url)
                            .entries(entries)
                            .overrideConfiguration(call -> call.apiCallTimeout(Duration.ofMillis(remaining))))
                    .whenComplete((response, error) ->
                            settle(url, batch, response, error == null ? null : CompletionErrors.cause(error)));
        } catch (RuntimeException | Error broken) {
            settle(url, batch, null, broken);
        }
    }

    private static SendMessageBatchRequestEntry entry(String id, Sending sending, boolean fifo) {
        OutboxMessage message = sending.outgoing().message();
        SendMessageBatchRequestEntry.Builder entry = SendMessageBatchRequestEntry.builder()
                .id(id)
                .messageBody(sending.text())
                .messageAttributes(sending.attributes());
        if (fifo) {
            entry.messageDeduplicationId(message.id().toString())
                    .messageGroupId(message.aggregate() == null ? message.id().toString() : message.aggregate());
        }
        return entry.build();
    }

    private void settle(
            String url, List<Sending> batch, @Nullable SendMessageBatchResponse response, @Nullable Throwable error) {
        if (batch.size() > 1 && isRefusedForContent(error)) { // nothing was sent, and any of them may be the reason
            batch.forEach(sending -> send(url, List.of(sending)));
            return;
        }
        Map<String, PublishResult> results = response == null ? Map.of() : results(response);
        PublishResult unanswered =
                error == null ? PublishResult.failed("SQS did not say what became of the message") : failure(error);
        for (int i = 0; i < batch.size(); i++) {
            batch.get(i).result().complete(results.getOrDefault(Integer.toString(i), unanswered));
        }
    }

    /** The results of a batch's entries, by their ids. A message that SQS reports as both has failed. */
    private static Map<String, PublishResult> results(SendMessageBatchResponse response) {
        Map<String, PublishResult> results = new HashMap<>();
        for (SendMessageBatchResultEntry entry : response.successful()) {
            results.put(entry.id(), PublishResult.published());
        }
        for (BatchResultErrorEntry entry : response.failed()) {
            results.put(entry.id(), failure(entry));
        }
        return results;
    }

    private static PublishResult failure(BatchResultErrorEntry entry) {
        String reason = entry.code() + ": " + entry.message();
        String code = withoutPrefix(entry.code());
        boolean isPermanent = Boolean.TRUE.equals(entry.senderFault())
                && (CONTENT_ERRORS.contains(code) || code.equals(INVALID_PARAMETER));
        return isPermanent ? PublishResult.refused(reason) : PublishResult.failed(reason);
    }

    /** The whole request failed. Refused for its content, it had one message only: larger ones are split before. */
    private static PublishResult failure(Throwable error) {
        return isRefusedForContent(error) ? PublishResult.refused(error.toString()) : PublishResult.failed(error);
    }

    private static boolean isRefusedForContent(@Nullable Throwable error) {
        return error instanceof AwsServiceException refusal
                && refusal.awsErrorDetails() != null
                && CONTENT_ERRORS.contains(
                        withoutPrefix(refusal.awsErrorDetails().errorCode()));
    }

    private static String withoutPrefix(@Nullable String code) {
        if (code == null) {
            return "";
        }
        return code.startsWith(QUERY_PREFIX) ? code.substring(QUERY_PREFIX.length()) : code;
    }
}
