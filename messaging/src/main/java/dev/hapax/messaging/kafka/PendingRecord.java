package dev.hapax.messaging.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * A fetched record that is not settled yet, and how far it came. It does nothing itself: its {@link OrderedQueue} owns
 * the state and reads and changes it under the queue's lock.
 */
final class PendingRecord {
    final ConsumerRecord<byte[], byte[]> record;
    final OrderedQueue queue;
    State state = State.FETCHED;

    /** What runs the handler under the claim that was won; only while {@link State#CLAIMED}. */
    @Nullable
    Runnable handler;

    /** When a {@link State#DELAYED} record is submitted again, on the queue's clock. */
    long notBefore;

    /** The claim, if there is one or one is won, is to be released. */
    boolean releasing;

    enum State {
        /** Not submitted yet, or its claim was released. */
        FETCHED,
        /** Submitted to the engine, which has not decided about the claim. */
        SUBMITTED,
        /** Claimed: its handler waits for its turn. */
        CLAIMED,
        RUNNING,
        /** The handler returned and need not run again: the next one may begin while the completion is being stored. */
        RETURNED,
        /** The handler returned and has to run again: no record may overtake it. */
        FAILED,
        /** To be submitted again when it is the first of its queue. */
        REQUEUED,
        /** To be submitted again when it is the first of its queue and its delay is over. */
        DELAYED;

        /** Whether the engine has the record and owes a disposition. */
        boolean isInEngine() {
            return this == SUBMITTED || this == CLAIMED || hasBegun();
        }

        boolean hasBegun() {
            return this == RUNNING || this == RETURNED || this == FAILED;
        }
    }

    PendingRecord(ConsumerRecord<byte[], byte[]> record, OrderedQueue queue) {
        this.record = record;
        this.queue = queue;
    }
}
