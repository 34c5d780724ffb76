package dev.hapax.postgres.outbox;

import java.time.Duration;

/**
 * How a relay works.
 *
 * @param batch how many messages one claim takes at most
 * @param lease how long a claim lasts
 * @param publishTimeout how long a publisher may take for one message
 * @param ioTimeout how long the database may take
 * @param pollEvery how long to wait for a hint before looking without one
 */
record RelaySettings(
        int batch,
        Duration lease,
        Duration publishTimeout,
        Duration ioTimeout,
        Duration pollEvery,
        Duration lagEvery,
        int maxAttempts,
        Backoff backoff) {

    RelaySettings {
        if (batch < 1 || batch > 10_000) {
            throw new IllegalArgumentException("batch is " + batch + "; between 1 and 10,000 is needed");
        }
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("maxAttempts is " + maxAttempts + "; at least 1 is needed");
        }
        if (lease.compareTo(publishTimeout.multipliedBy(2)) < 0) {
            throw new IllegalArgumentException(
                    "the lease is %s; it must be at least twice the publishTimeout of %s, or it ends while a message is "
                                    .formatted(lease, publishTimeout)
                            + "under way");
        }
    }

    /** How long a lease must last to publish another message, and to tell the database. */
    Duration forOneMore() {
        Duration half = lease.minus(publishTimeout).dividedBy(2);
        return publishTimeout.plus(ioTimeout.compareTo(half) < 0 ? ioTimeout : half);
    }

    /** Two claims' worth: the next one can be taken while the last one is under way. */
    int maxInFlight() {
        return 2 * batch;
    }
}
