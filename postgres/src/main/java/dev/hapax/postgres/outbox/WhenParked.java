package dev.hapax.postgres.outbox;

/** What becomes of the messages behind one that is parked, of the same topic and aggregate. */
public enum WhenParked {
    /** They wait until an operator unparks or discards it: order is kept. */
    WAIT,
    /** They are published without it: one message is late or lost, the others are not. */
    GO_ON
}
