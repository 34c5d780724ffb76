package dev.hapax.messaging;

import java.time.Duration;
import java.util.function.Function;

/** What is to be done with a message: what an adapter tells its broker. */
public sealed interface Disposition {

    /** The message is done with: its end is stored, now or by an earlier delivery. */
    record Ack() implements Disposition {}

    /**
     * The message is not done with: it is to be delivered again, not before {@code delay} has passed, and must not be
     * lost or overtaken where order matters.
     *
     * @param reason for people
     */
    record RetryLater(Duration delay, String reason) implements Disposition {
        public RetryLater {
            if (delay.isNegative()) {
                throw new IllegalArgumentException("the delay is " + delay + "; it cannot be negative");
            }
        }
    }

    /**
     * The message will never be done: it goes to the dead letters, and is not delivered again.
     *
     * @param reason for people
     */
    record Reject(String reason) implements Disposition {}

    /** Whether the broker may forget the message once this was carried out. */
    default boolean isTerminal() {
        return !(this instanceof RetryLater);
    }

    default <R> R fold(Function<Ack, R> ack, Function<RetryLater, R> retryLater, Function<Reject, R> reject) {
        if (this instanceof Ack it) {
            return ack.apply(it);
        } else if (this instanceof RetryLater it) {
            return retryLater.apply(it);
        }
        return reject.apply((Reject) this);
    }
}
