package dev.hapax;

import dev.hapax.store.ExpiredLease;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports expired leases, whether a claim or the sweeper found them: for each, a worker crashed or stalled. */
final class ExpiredLeases {
    private static final Logger log = LoggerFactory.getLogger(ExpiredLeases.class);

    private ExpiredLeases() {}

    static void report(ExpiredLease lease, Listeners listeners) {
        log.warn(
                "The lease of operation {} expired: {} crashed or stalled during attempt {}",
                lease.id(),
                lease.owner(),
                lease.attempt());
        listeners.tell(listener -> listener.leaseExpired(lease));
    }
}
