package dev.hapax.messaging;

import java.time.Duration;
import java.util.function.Function;

/** How a message is to be settled: what an adapter tells its broker. */
public sealed interface Disposition {

    /** The message is settled: its end is stored, now or by an earlier delivery. */
    record Ack() implements Disposition {}

    /**
     * The message is not settled: it is to be delivered again, not before {@code delay} has passed, and must not be
     * lost or overtaken where order matters.
     *
     * @param reason human-readable
     * @param handlerFailed whether the handler ran and threw. If not, the message waits for something around it: the
     *     store, another delivery that is being handled, a decision. A broker that counts deliveries should count the
     *     first kind only
     */
    record RetryLater(Duration delay, String reason, boolean handlerFailed) implements Disposition {
        public RetryLater {
            if (delay.isNegative()) {
                throw new IllegalArgumentException("the delay is " + delay + "; it cannot be negative");
            }
        }

        /** For a message whose handler did not fail. */
        public RetryLater(Duration delay, String reason) {
            this(delay, reason, false);
        }
    }

    /**
     * The message will never be handled: it goes to the dead letters, and is not delivered again.
     *
     * @param reason human-readable
     */
    record Reject(String reason) implements Disposition {}

    default <R> R fold(Function<Ack, R> ack, Function<RetryLater, R> retryLater, Function<Reject, R> reject) {
        if (this instanceof Ack it) {
            return ack.apply(it);
        } else if (this instanceof RetryLater it) {
            return retryLater.apply(it);
        }
        return reject.apply((Reject) this);
    }
}
