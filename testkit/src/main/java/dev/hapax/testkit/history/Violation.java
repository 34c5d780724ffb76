package dev.hapax.testkit.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Something in a history that no correct store could have shown.
 *
 * @param sentence what is wrong, for people
 * @param events the events that contradict each other
 */
public record Violation(Kind kind, String operation, String sentence, List<Event> events) {

    public Violation {
        events = List.copyOf(events);
    }

    static Violation of(Kind kind, String sentence, Event.OfOperation event, Event... others) {
        List<Event> events = new ArrayList<>(List.of(others));
        events.add(0, event);
        return new Violation(kind, event.operation(), sentence, events);
    }

    /** Which promise was broken. */
    public enum Kind {
        /** Two tokens held the lease of one operation at one instant. */
        TWO_OWNERS,
        /** One operation had two results. */
        TWO_RESULTS,
        /** A completion, renewal or release was accepted from one who had lost the claim, or never had it. */
        STALE_OWNER,
        /** An operation was claimed, and neither a result nor a release nor a running lease accounts for it. */
        NEVER_ENDED,
        /** A handler ran more than once for one attempt. */
        RAN_TWICE,
        /** A later claim did not get a higher attempt number. */
        ATTEMPT_NOT_HIGHER,
        /** A caller saw a result that nobody had tried to store by then. */
        UNEXPLAINED_ANSWER,
        /** An operation that had its result was claimed again. */
        CLAIMED_AFTER_COMPLETION,
        /** A handler began although its lease was over on its own clock. */
        BEGAN_TOO_LATE,
        /** A handler was told that it still had its lease, which was over on its own clock. */
        HELD_TOO_LONG,
        /** A caller got the result of another request, or ran under its operation. */
        FOREIGN_REQUEST,
        /** Two handlers of one operation ran at once in one process. */
        RAN_AT_ONCE,
        /** A handler ran again although the policy parks or fails what was abandoned, or allows no further attempt. */
        RAN_AGAINST_POLICY,
        /** An operation failed for too many attempts, of which too few ran. */
        ATTEMPTS_MISCOUNTED,
        /** A new operation under an old id was not the next generation, or a retry was one. */
        WRONG_GENERATION,
        /** An operation that was in flight, or had not expired, was no longer there. */
        VANISHED,
        /** A lease was renewed although its call had ended. */
        RENEWED_AFTER_ITS_CALL,
        /** A caller never heard what became of its call. */
        NEVER_ANSWERED,
        /** Something was thrown where nobody could catch it. */
        UNCAUGHT
    }

    @Override
    public String toString() {
        return kind + " in " + operation + ": " + sentence + " " + events;
    }
}
