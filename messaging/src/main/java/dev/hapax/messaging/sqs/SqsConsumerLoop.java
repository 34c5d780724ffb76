package dev.hapax.messaging.sqs;

import dev.hapax.messaging.IdempotentConsumer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * Receives messages of a queue and has every message handled once; deletes a message only when its end is stored.
 *
 * <pre>{@code
 * IdempotentConsumer<SqsMessage> mailer = SqsMessages.consumer("orders.mailer", hapax)
 *     .key(SqsMessages.attribute("message-id"))
 *     .handling((message, lease) -> mails.send(message.body(), lease.downstreamKey("mail")));
 *
 * SqsConsumerLoop loop = SqsConsumerLoop.of(client, mailer)
 *     .queueUrl("https://sqs.eu-central-1.amazonaws.com/123456789012/orders")
 *     .deadLetters(DeadLetters.toQueue(deadLettersUrl))
 *     .start();
 * }</pre>
 *
 * <p>A message stays hidden from others for as long as its handler runs, and is shown again soon when this process
 * dies. A message that has to come back is left to SQS, hidden for the delay, so it takes no room here. In a FIFO queue
 * it is held here instead, and its group with it, while other groups go on: given back, those behind it would be
 * counted as delivered again, and a redrive policy could take them before their turn.
 *
 * <p>While SQS or the store cannot be reached it waits, with pauses, and goes on by itself. The client is not closed;
 * its timeout for a call, if it has one, must be longer than {@link Builder#waitTime}.
 */
public final class SqsConsumerLoop implements AutoCloseable {
    private final ReceiveLoop loop;
    private final Thread thread;

    private SqsConsumerLoop(Builder builder) {
        loop = new ReceiveLoop(builder);
        thread = new Thread(loop, "hapax-sqs-" + builder.consumer.name());
        thread.setDaemon(true);
        thread.start();
    }

    /** Begins with how SQS is reached. */
    public static Builder of(SqsAsyncClient client, IdempotentConsumer<SqsMessage> consumer) {
        return new Builder(client, consumer);
    }

    /**
     * Stops: what has not begun is shown to others at once, what runs is waited for, what is done is deleted. Closing
     * twice does nothing.
     */
    @Override
    public void close() {
        loop.stop();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Collects the settings of a {@link SqsConsumerLoop}. Not safe for use by many threads. */
    public static final class Builder {
        private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);
        private static final Duration LONGEST_VISIBILITY = Duration.ofHours(1);

        final SqsAsyncClient client;
        final IdempotentConsumer<SqsMessage> consumer;
        String queueUrl = "";
        int maxInFlight = 100;
        int threads = 16;
        Duration waitTime = LONGEST_WAIT;
        Duration visibility = Duration.ofSeconds(30);
        Duration handOver = Duration.ofSeconds(10);

        @Nullable
        Executor executor;

        @Nullable
        DeadLetters deadLetters;

        private Builder(SqsAsyncClient client, IdempotentConsumer<SqsMessage> consumer) {
            this.client = Objects.requireNonNull(client, "client");
            this.consumer = Objects.requireNonNull(consumer, "consumer");
        }

        /**
         * Receives from this queue. One whose name ends with {@code .fifo} keeps the order of its groups. Must be set.
         */
        public Builder queueUrl(String queueUrl) {
            this.queueUrl = queueUrl;
            return this;
        }

        /** Where rejected messages go. Must be set. */
        public Builder deadLetters(DeadLetters deadLetters) {
            this.deadLetters = deadLetters;
            return this;
        }

        /** How many messages may be received and not done with. 100 unless set. */
        public Builder maxInFlight(int messages) {
            this.maxInFlight = atLeastOne(messages, "maxInFlight");
            return this;
        }

        /** How many handlers may run at a time. 16 unless set. */
        public Builder threads(int threads) {
            this.threads = atLeastOne(threads, "threads");
            return this;
        }

        /** Where handlers run, instead of threads of the loop's own. */
        public Builder executor(Executor executor) {
            this.executor = executor;
            return this;
        }

        /** How long SQS waits for a message before it answers that there is none. 20 seconds, the most, unless set. */
        public Builder waitTime(Duration waitTime) {
            this.waitTime = seconds(waitTime, Duration.ofSeconds(1), LONGEST_WAIT, "waitTime");
            return this;
        }

        /**
         * How long a message is hidden from others at a time; renewed at a third. So it is also how long the messages
         * of a process that died are hidden. 30 seconds unless set; from 3 seconds to an hour.
         */
        public Builder visibility(Duration visibility) {
            this.visibility = seconds(visibility, Duration.ofSeconds(3), LONGEST_VISIBILITY, "visibility");
            return this;
        }

        /**
         * How long handlers that run are waited for when the loop is closed, and so is a request for messages that is
         * under way. 10 seconds unless set.
         */
        public Builder handOver(Duration longest) {
            if (longest.isNegative()) {
                throw new IllegalArgumentException("handOver is " + longest + "; it cannot be negative");
            }
            this.handOver = longest;
            return this;
        }

        /** @throws IllegalStateException when it was not said which queue is meant, or where dead letters go */
        public SqsConsumerLoop start() {
            if (queueUrl.isEmpty()) {
                throw new IllegalStateException("say which queue is consumed: queueUrl(\"https://sqs…/orders\")");
            }
            if (deadLetters == null) {
                throw new IllegalStateException("say where rejected messages go:"
                        + " deadLetters(DeadLetters.toQueue(url)), or DeadLetters.byRedrive()");
            }
            return new SqsConsumerLoop(this);
        }

        private static int atLeastOne(int value, String name) {
            if (value < 1) {
                throw new IllegalArgumentException(name + " is " + value + "; at least 1 is needed");
            }
            return value;
        }

        /** SQS counts in whole seconds. */
        private static Duration seconds(Duration value, Duration least, Duration most, String name) {
            if (value.compareTo(least) < 0
                    || value.compareTo(most) > 0
                    || !value.equals(Duration.ofSeconds(value.toSeconds()))) {
                throw new IllegalArgumentException(
                        "%s is %s; whole seconds between %s and %s are needed".formatted(name, value, least, most));
            }
            return value;
        }
    }
}
