package dev.hapax.postgres.outbox;

import java.time.Duration;

/**
 * How a relay works.
 *
 * @param batch how many messages one claim leases at most
 * @param publishTimeout how long a publisher may take for one message
 * @param ioTimeout how long the database may take for one statement
 * @param pollEvery how often to look for messages without being woken
 */
record RelaySettings(
        int batch,
        Duration lease,
        Duration publishTimeout,
        Duration ioTimeout,
        Duration pollEvery,
        int maxAttempts,
        Backoff backoff,
        WhenParked whenParked) {

    RelaySettings {
        if (batch < 1 || batch > 10_000) {
            throw new IllegalArgumentException("batch is " + batch + "; between 1 and 10,000 is needed");
        }
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("maxAttempts is " + maxAttempts + "; at least 1 is needed");
        }
        if (lease.compareTo(publishTimeout.multipliedBy(2)) < 0) {
            throw new IllegalArgumentException(
                    "the lease is %s; it must be at least twice the publishTimeout of %s, or it expires while a message is "
                                    .formatted(lease, publishTimeout)
                            + "in flight");
        }
    }

    /** How long a lease must last to publish another message and to record the result. */
    Duration forOneMore() {
        Duration half = lease.minus(publishTimeout).dividedBy(2);
        return publishTimeout.plus(ioTimeout.compareTo(half) < 0 ? ioTimeout : half);
    }
}
