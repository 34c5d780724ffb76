package dev.hapax.postgres.outbox;

/** What becomes of the messages behind one that is parked, of the same topic and aggregate. */
public enum WhenParked {
    /** They wait until somebody unparks or discards it: order is kept, whatever happens. */
    WAIT,
    /** They go on without it: one message is late or lost, and the others are not. */
    GO_ON
}
