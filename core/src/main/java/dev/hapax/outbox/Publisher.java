package dev.hapax.outbox;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Hands messages to a broker. Safe for use by many threads: several relays may share one.
 *
 * <p>A publisher sends; it does not retry, and it does not keep order. The relay does both: it never has two messages
 * of one topic and aggregate under way at a time, and gives the second one only after the first one was
 * {@link PublishResult.Published}.
 *
 * <p>Every message goes out with its {@link OutboxMessage#id()}, where the receiver finds it, unchanged on every
 * attempt: {@link Outgoing#ID_HEADER} unless the broker or its form of messages has a place of its own for ids.
 *
 * <p>Returns soon: a relay calls it from the one thread that also does everything else. What waits for the broker
 * belongs into the stages.
 */
@FunctionalInterface
public interface Publisher {

    /**
     * Sends each of them, together where the broker can.
     *
     * <p>A stage completes with {@link PublishResult.Published} only once the broker has the message for good
     * (acknowledged by all it must be, confirmed, answered with success), with {@link PublishResult.Refused} where the
     * same message would be refused again, and with {@link PublishResult.Failed} for all else: no connection, no
     * answer, too many requests. A stage that completes with an exception, and an exception of the call itself, mean
     * {@code Failed} as well: a message is never lost to an error that nobody thought of. Each stage completes in the
     * end; the relay waits for it for so long and no longer.
     *
     * @param messages at least one; no two of the same topic and aggregate
     * @return one stage for each message, in the same order
     */
    List<CompletionStage<PublishResult>> publish(List<Outgoing> messages);
}
