package dev.hapax.messaging.kafka;

/** Which records wait for each other. */
public enum Ordering {
    /** Those of a partition: one at a time, in the order of their offsets. */
    BY_PARTITION,
    /** Those of a partition that have the same key; records without a key do not wait. */
    BY_KEY
}
