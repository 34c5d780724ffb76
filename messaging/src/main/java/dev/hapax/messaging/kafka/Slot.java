package dev.hapax.messaging.kafka;

import dev.hapax.messaging.Turn;
import java.util.concurrent.Executor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** A record's place in its {@link Lane}, and how far it came. The lane's lock guards it. */
final class Slot implements Executor, Turn {
    final ConsumerRecord<byte[], byte[]> record;
    private final Lane lane;
    State state = State.FRESH;

    @Nullable
    Runnable task;

    long notBefore;

    /** Its claim, if it has one or gets one, is to be given back. */
    boolean refused;

    enum State {
        /** Nobody has asked for it yet, or its claim was given back. */
        FRESH,
        /** The engine was asked and has not answered. */
        ASKED,
        /** Claimed: its handler waits for its turn. */
        READY,
        RUNNING,
        /** The handler returned for good: the next one may begin while this end is being stored. */
        RETURNED,
        /** The handler returned and has to run again: nobody may overtake it. */
        FAILED,
        /** To be asked for again when it is the first one. */
        AGAIN,
        /** The first one, and to be asked for again when its time has come. */
        WAITING,
        /** Done with. */
        SETTLED;

        /** Whether the engine owes an answer. */
        boolean isOpen() {
            return this == ASKED || this == READY || this == RUNNING || this == RETURNED || this == FAILED;
        }
    }

    Slot(ConsumerRecord<byte[], byte[]> record, Lane lane) {
        this.record = record;
        this.lane = lane;
    }

    Lane lane() {
        return lane;
    }

    @Override
    public void execute(Runnable handler) {
        lane.claimed(this, handler);
    }

    @Override
    public boolean mayBegin() {
        return lane.mayBegin(this);
    }

    @Override
    public void returned(boolean forGood) {
        lane.returned(this, forGood);
    }
}
