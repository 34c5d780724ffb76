package dev.hapax.testkit.history;

/**
 * The time in which a lease was held for sure: from the answer that gave it until the earliest instant at which it can
 * have ended. Empty where the two leave nothing in between.
 */
record HeldLease(Event.Leasing by, long from, long until) {

    /**
     * @param firstEnd the earliest instant at which the token's claim can have ended by its owner's own doing
     * @param clockError how much sooner than ours the store's clock may find a lease over
     */
    static HeldLease of(Event.Leasing by, long firstEnd, long clockError) {
        long lapse = plus(by.call().calledAt(), by.leaseNanos()) - clockError;
        return new HeldLease(by, by.call().answeredAt(), Math.min(lapse, firstEnd));
    }

    String token() {
        return by.token();
    }

    boolean isEmpty() {
        return until <= from;
    }

    /** From when on this owner's own hold contradicts another's that lasts beyond {@link #from}. */
    long contradictsFrom() {
        // Without an instant that is surely held there is still one, somewhere in the call, at which it was granted.
        return isEmpty() ? by.call().calledAt() : from;
    }

    /** A lease may be "for ever"; its end must not wrap around. */
    static long plus(long instant, long nanos) {
        return instant > Long.MAX_VALUE - nanos ? Long.MAX_VALUE : instant + nanos;
    }
}
