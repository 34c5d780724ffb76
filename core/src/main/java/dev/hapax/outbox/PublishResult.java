package dev.hapax.outbox;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The result of one attempt to publish a message. */
public sealed interface PublishResult {

    /** The broker has stored the message. */
    record Published() implements PublishResult {}

    /**
     * The message may be accepted later: it stays in the outbox and is retried after a pause.
     *
     * @param reason human-readable; never contains the body
     * @param retryAfter the pause that the receiver asked for, or {@code null}
     */
    record Failed(String reason, @Nullable Duration retryAfter) implements PublishResult {
        public Failed {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /**
     * The same message would be refused again: it is parked at once.
     *
     * @param reason human-readable; never contains the body
     */
    record Refused(String reason) implements PublishResult {
        public Refused {
            Objects.requireNonNull(reason, "reason");
        }
    }

    static PublishResult published() {
        return new Published();
    }

    static PublishResult failed(String reason) {
        return new Failed(reason, null);
    }

    /** The failure that an exception of the broker's client means. */
    static PublishResult failed(Throwable error) {
        return new Failed(error.toString(), null);
    }

    static PublishResult refused(String reason) {
        return new Refused(reason);
    }

    default <R> R fold(Function<Published, R> published, Function<Failed, R> failed, Function<Refused, R> refused) {
        if (this instanceof Published it) {
            return published.apply(it);
        } else if (this instanceof Failed it) {
            return failed.apply(it);
        }
        return refused.apply((Refused) this);
    }
}
