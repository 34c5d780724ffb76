package dev.hapax;

import dev.hapax.store.Release;
import dev.hapax.store.WhenAbandoned;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What an exception of a handler says about its operation. */
enum FailureVerdict {
    /** It ends the operation for good, and every retry gets it. */
    TERMINAL,
    /** The work may have been done, so that an operator has to find out. */
    IN_DOUBT,
    /** Nothing was done, and the claim counts as no attempt. */
    NOT_BEGUN,
    /** The next call runs the handler again. */
    RETRYABLE;

    private static final Logger log = LoggerFactory.getLogger(FailureVerdict.class);

    static FailureVerdict of(Policy policy, Throwable thrown) {
        if (thrown instanceof NotBegunException) {
            return NOT_BEGUN;
        } else if (endsForGood(policy, thrown)) {
            return TERMINAL;
        } else if (test(policy::isUnknown, thrown, true)) {
            return ofUnknown(policy.whenAbandoned());
        }
        return RETRYABLE;
    }

    /** Where the effect was taken back there is nothing unknown: only what is terminal by itself ends the operation. */
    static boolean endsForGood(Policy policy, Throwable thrown) {
        return !(thrown instanceof NotBegunException) && test(policy::isTerminal, thrown, false);
    }

    /** A handler that cannot tell is like one that went away. */
    private static FailureVerdict ofUnknown(WhenAbandoned whenAbandoned) {
        return switch (whenAbandoned) {
            case RERUN -> RETRYABLE;
            case FAIL -> TERMINAL;
            case PARK -> IN_DOUBT;
        };
    }

    /** The predicates are the user's own code, and may fail in turn. */
    private static boolean test(Predicate<Throwable> predicate, Throwable thrown, boolean otherwise) {
        try {
            return predicate.test(thrown);
        } catch (RuntimeException | Error broken) {
            log.error("A policy cannot tell what {} means", thrown.getClass().getName(), broken);
            return otherwise;
        }
    }

    /** How the claim is released; there is none for what ends the operation. */
    Release.Kind release() {
        return switch (this) {
            case IN_DOUBT -> Release.Kind.IN_DOUBT;
            case NOT_BEGUN -> Release.Kind.NOT_BEGUN;
            case RETRYABLE -> Release.Kind.TRY_AGAIN;
            case TERMINAL -> throw new IllegalStateException("a terminal failure is stored, not released");
        };
    }
}
