package dev.hapax.messaging.sqs;

import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.internal.LoopSettings;
import dev.hapax.messaging.internal.LoopThread;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * Receives the messages of a queue and has every message handled once; deletes a message only when its end is stored.
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
 * <p>A message stays hidden from others for as long as its handler runs or this loop holds it, and is shown again soon
 * when this process dies. A message whose handler failed is left to SQS, hidden for the delay: it takes up no room
 * here, and SQS counts its next receive, as users of a redrive policy expect. A message that waits for something else
 * (the store is away, another delivery of it is being handled) is held here, up to 11 hours: it takes up room, and SQS
 * counts nothing. In a FIFO queue every message that is retried is held here, and its group with it, while other groups
 * go on.
 *
 * <p>While SQS or the store cannot be reached the loop waits, with pauses, and goes on by itself. The client is not
 * closed; its timeout for a call, if it has one, must be longer than {@link Builder#waitTime}.
 */
public final class SqsConsumerLoop implements AutoCloseable {
    private final ReceiveLoop loop;
    private final LoopThread thread;

    private SqsConsumerLoop(Builder builder) {
        String name = "hapax-sqs-" + builder.consumer.name();
        loop = new ReceiveLoop(builder, name);
        thread = LoopThread.start(name, loop);
    }

    /** Begins with how SQS is reached. */
    public static Builder of(SqsAsyncClient client, IdempotentConsumer<SqsMessage> consumer) {
        return new Builder(client, consumer);
    }

    /** Whether the loop runs and SQS has answered its latest receive: for health checks. */
    public boolean isConsuming() {
        return thread.isRunning() && loop.isConsuming();
    }

    /** Completes when the loop was closed, and fails with what stopped it if it was not. */
    public CompletionStage<Void> stopped() {
        return thread.stopped();
    }

    /**
     * Stops: messages that have not begun are shown to others at once, handlers that run are waited for, messages whose
     * end is stored are deleted. Closing twice does nothing.
     */
    @Override
    public void close() {
        thread.close();
    }

    /** Collects the settings of a {@link SqsConsumerLoop}. Not safe for use by many threads. */
    public static final class Builder {
        private static final Duration MAX_WAIT_TIME = Duration.ofSeconds(20);
        private static final Duration MAX_VISIBILITY = Duration.ofHours(1);

        final SqsAsyncClient client;
        final IdempotentConsumer<SqsMessage> consumer;
        LoopSettings loop = LoopSettings.defaults();
        String queueUrl = "";
        int maxInFlight = 100;
        Duration waitTime = Duration.ofSeconds(2);
        Duration visibility = Duration.ofSeconds(30);

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

        /**
         * How many messages may be received and not settled: those that are handled, wait for a thread, or are held.
         * Default: 100.
         */
        public Builder maxInFlight(int messages) {
            this.maxInFlight = LoopSettings.atLeastOne(messages, "maxInFlight");
            return this;
        }

        /** How many handlers may run at a time. Default: 16. */
        public Builder threads(int threads) {
            this.loop = loop.withThreads(threads);
            return this;
        }

        /** Where handlers run. Default: threads of the loop's own. */
        public Builder executor(Executor executor) {
            this.loop = loop.withExecutor(executor);
            return this;
        }

        /**
         * How long SQS waits for a message before it answers that there is none, in whole seconds up to 20. Default: 2
         * s. Closing the loop waits for such a request, up to {@link #handOver}: a message that SQS gives to a process
         * that has exited stays hidden for the visibility time. So a longer wait time costs fewer requests while the
         * queue is empty, and makes closing slower.
         */
        public Builder waitTime(Duration waitTime) {
            this.waitTime = seconds(waitTime, Duration.ofSeconds(1), MAX_WAIT_TIME, "waitTime");
            return this;
        }

        /**
         * How long a message is hidden from others at a time; renewed at a third. It is also how long the messages of a
         * process that died stay hidden. From 3 seconds to an hour. Default: 30 s.
         */
        public Builder visibility(Duration visibility) {
            this.visibility = seconds(visibility, Duration.ofSeconds(3), MAX_VISIBILITY, "visibility");
            return this;
        }

        /**
         * How long closing waits, at most: for handlers that run, and for a request for messages that is under way.
         * Default: 10 s.
         */
        public Builder handOver(Duration longest) {
            this.loop = loop.withHandOver(longest);
            return this;
        }

        /**
         * @throws IllegalStateException when the queue or the dead letters are not set, or rejected messages of a FIFO
         *     queue are left to its redrive policy
         */
        public SqsConsumerLoop start() {
            if (queueUrl.isEmpty()) {
                throw new IllegalStateException("say which queue is consumed: queueUrl(\"https://sqs…/orders\")");
            }
            if (deadLetters == null) {
                throw new IllegalStateException("say where rejected messages go:"
                        + " deadLetters(DeadLetters.toQueue(url)), or DeadLetters.byRedrive()");
            }
            if (Requests.isFifo(queueUrl) && deadLetters.queueUrl() == null) {
                throw new IllegalStateException("a FIFO queue cannot leave rejected messages to its redrive policy:"
                        + " SQS would count receives of the messages behind them, too."
                        + " Use deadLetters(DeadLetters.toQueue(url)) with another FIFO queue");
            }
            return new SqsConsumerLoop(this);
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
