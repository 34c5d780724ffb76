package dev.hapax.outbox;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Sends messages to a broker. Safe for use by many threads: several relays may share one.
 *
 * <p>A publisher neither retries nor keeps order; the relay does both. It never has two messages of one topic and
 * aggregate in flight, and hands over the second one only after the first one was {@link PublishResult.Published}.
 *
 * <p>Every message is sent with its {@link OutboxMessage#id()}, unchanged on every attempt: as
 * {@link Outgoing#ID_HEADER}, unless the broker has a field of its own for ids.
 *
 * <p>One message must not affect another: a topic that does not exist, an endpoint that cannot be looked up or a queue
 * that is slow fails or delays its own messages only. What a publisher cannot help: the messages in flight share the
 * relay's limit, so a receiver that does not answer occupies it until the timeout.
 */
@FunctionalInterface
public interface Publisher {

    /**
     * Sends the messages, together where the broker can. Returns without waiting for the broker: the relay calls this
     * on the one thread that does all its work.
     *
     * <p>A stage completes with {@link PublishResult.Published} only once the broker has stored the message
     * (acknowledged by all replicas that must, confirmed, answered with success), with {@link PublishResult.Refused} if
     * the same message would be refused again, and with {@link PublishResult.Failed} otherwise: no connection, no
     * answer, too many requests. A stage that completes with an exception or with null, and an exception thrown by this
     * method, count as {@code Failed}. The relay waits for a stage for {@link Outgoing#timeout()}; a message that has
     * not been sent by then must not be sent any more, because the relay sends it again.
     *
     * @param messages at least one; no two of the same topic and aggregate
     * @return one stage for each message, in the same order
     */
    List<CompletionStage<PublishResult>> publish(List<Outgoing> messages);
}
