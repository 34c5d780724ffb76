package dev.hapax.messaging.sqs;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.elasticmq.NodeAddress;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** A server that speaks as SQS does, in this JVM, and what tests do with it. */
final class ElasticMq {
    private final SQSRestServer server;
    private final int port;
    private final SqsAsyncClient client;

    private ElasticMq() {
        server = SQSRestServerBuilder.withInterface("127.0.0.1")
                .withDynamicPort()
                .withServerAddress(new NodeAddress("http", "127.0.0.1", 0, ""))
                .start();
        port = server.waitUntilStarted().localAddress().getPort();
        client = client(port);
    }

    /** The one that all tests of a JVM share. */
    static ElasticMq shared() {
        return Shared.SERVER;
    }

    private static final class Shared {
        static final ElasticMq SERVER = new ElasticMq();
    }

    int port() {
        return port;
    }

    SqsAsyncClient client() {
        return client;
    }

    static SqsAsyncClient client(int port) {
        return SqsAsyncClient.builder()
                .endpointOverride(URI.create("http://127.0.0.1:" + port))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "x")))
                .build();
    }

    String newQueue() {
        return newQueue("", Map.of());
    }

    /** Whose messages SQS moves to the other one when they have been received so often and not deleted. */
    String newQueueWithRedrive(int maxReceiveCount, String dead) {
        return newQueue(
                "",
                Map.of(
                        QueueAttributeName.REDRIVE_POLICY,
                        "{\"maxReceiveCount\": %d, \"deadLetterTargetArn\": \"%s\"}"
                                .formatted(maxReceiveCount, arn(dead))));
    }

    String newFifoQueue() {
        return newQueue(".fifo", Map.of(QueueAttributeName.FIFO_QUEUE, "true"));
    }

    String newQueue(String suffix, Map<QueueAttributeName, String> attributes) {
        String name = "q-" + UUID.randomUUID() + suffix;
        return client.createQueue(it -> it.queueName(name).attributes(attributes))
                .join()
                .queueUrl();
    }

    private String arn(String url) {
        return attribute(url, QueueAttributeName.QUEUE_ARN);
    }

    private String attribute(String url, QueueAttributeName name) {
        return client.getQueueAttributes(it -> it.queueUrl(url).attributeNames(name))
                .join()
                .attributes()
                .get(name);
    }

    /** With its key in the attribute {@code key}. */
    void send(String url, String key) {
        send(url, key, key);
    }

    void send(String url, String key, String body) {
        client.sendMessage(it -> it.queueUrl(url).messageBody(body).messageAttributes(Map.of("key", text(key))))
                .join();
    }

    void sendInGroup(String url, String group, String key) {
        sendInGroup(url, group, key, UUID.randomUUID().toString());
    }

    void sendInGroup(String url, String group, String key, String deduplicationId) {
        client.sendMessage(it -> it.queueUrl(url)
                        .messageBody(key)
                        .messageGroupId(group)
                        .messageDeduplicationId(deduplicationId)
                        .messageAttributes(Map.of("key", text(key))))
                .join();
    }

    /**
     * Message {@code n} has the key {@code mn} and, in a FIFO queue, the group {@code n % groups}. The server must not
     * deduplicate: every send has an id of its own.
     */
    void sendAll(String url, List<Integer> messages, int groups) {
        for (int from = 0; from < messages.size(); from += 10) {
            List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
            for (int message : messages.subList(from, Math.min(from + 10, messages.size()))) {
                SendMessageBatchRequestEntry.Builder entry = SendMessageBatchRequestEntry.builder()
                        .id("" + entries.size())
                        .messageBody("body of " + message)
                        .messageAttributes(Map.of("key", text("m" + message)));
                if (Requests.isFifo(url)) {
                    entry.messageGroupId("g" + message % groups)
                            .messageDeduplicationId(UUID.randomUUID().toString());
                }
                entries.add(entry.build());
            }
            client.sendMessageBatch(it -> it.queueUrl(url).entries(entries)).join();
        }
    }

    static MessageAttributeValue text(String value) {
        return MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(value)
                .build();
    }

    /** How many messages wait to be received. */
    int waiting(String url) {
        return Integer.parseInt(attribute(url, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES));
    }

    /** How many messages there are, those included that somebody has. */
    int size(String url) {
        return client
                .getQueueAttributes(it -> it.queueUrl(url)
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
                .join()
                .attributes()
                .values()
                .stream()
                .mapToInt(Integer::parseInt)
                .sum();
    }

    /** Receives one message, which has to be there soon. */
    Message receive(String url) {
        return client.receiveMessage(it -> it.queueUrl(url)
                        .waitTimeSeconds(10)
                        .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
                .join()
                .messages()
                .get(0);
    }

    /** Receives and deletes what is there now. */
    Map<String, Message> takeAll(String url) {
        Map<String, Message> taken = new HashMap<>();
        List<Message> some;
        do {
            some = client.receiveMessage(
                            it -> it.queueUrl(url).maxNumberOfMessages(10).messageAttributeNames("All"))
                    .join()
                    .messages();
            for (Message message : some) {
                taken.put(message.body(), message);
                client.deleteMessage(it -> it.queueUrl(url).receiptHandle(message.receiptHandle()))
                        .join();
            }
        } while (!some.isEmpty());
        return taken;
    }
}
