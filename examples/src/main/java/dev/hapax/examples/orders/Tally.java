package dev.hapax.examples.orders;

import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What was sent, repeated and suppressed, counted where it happens. Safe for use by many threads. */
final class Tally {
    final LongAdder requests = new LongAdder();
    final LongAdder executed = new LongAdder();
    final LongAdder replayed = new LongAdder();
    final LongAdder sentAway = new LongAdder();
    final LongAdder answersLost = new LongAdder();
    final LongAdder answersThatDiffer = new LongAdder();
    final LongAdder published = new LongAdder();
    final LongAdder confirmationsLost = new LongAdder();
    final LongAdder delivered = new LongAdder();
    final LongAdder redelivered = new LongAdder();
    final LongAdder suppressed = new LongAdder();

    private final Set<UUID> messages = ConcurrentHashMap.newKeySet();

    /** The broker has the message, for the first time or again. */
    void published(UUID message) {
        messages.add(message);
        published.increment();
    }

    /** How many different messages the broker was given. */
    long messages() {
        return messages.size();
    }
}
