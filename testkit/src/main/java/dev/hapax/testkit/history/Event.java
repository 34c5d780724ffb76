package dev.hapax.testkit.history;

/**
 * Something a process saw or did, as it wrote it down.
 *
 * <p>The rules for writing, without which a correct store can look wrong:
 *
 * <ul>
 *   <li>{@link Ran}, {@link Completing} and {@link Releasing} are written <em>before</em> the step, everything else
 *       after it, and {@link Claimed} before its token is used. A killed process then leaves too many intentions rather
 *       than too few.
 *   <li>An operation has one life. Where its record expires and its key is used again, that is another operation and
 *       needs another name here.
 *   <li>An answer that the engine marks as unrecorded promises nothing, and is no {@link Answered}.
 * </ul>
 */
public sealed interface Event {

    /** The first instant this event tells of. */
    long startedAt();

    /** The last instant this event tells of. */
    long endedAt();

    /** An event of one operation. */
    sealed interface OfOperation extends Event {
        String operation();
    }

    /** An event of one owner of one operation. */
    sealed interface OfToken extends OfOperation {
        String token();
    }

    /** A call that the store accepted or refused. */
    sealed interface Call extends OfToken {
        Window call();

        @Override
        default long startedAt() {
            return call().calledAt();
        }

        @Override
        default long endedAt() {
            return call().answeredAt();
        }
    }

    /** A call that gave its owner the lease. */
    sealed interface Leasing extends Call {
        long leaseNanos();
    }

    /** Something known to the instant. */
    sealed interface Instantaneous extends Event {
        long at();

        @Override
        default long startedAt() {
            return at();
        }

        @Override
        default long endedAt() {
            return at();
        }
    }

    /** A claim that was won; the owner names the process, as {@link Abandoned} does. */
    record Claimed(String operation, String token, String owner, int attempt, Window call, long leaseNanos)
            implements Leasing {}

    /** A lease that was renewed. */
    record Renewed(String operation, String token, Window call, long leaseNanos) implements Leasing {}

    /** An owner that heard of its claim or renewal: from here on it may count on the lease, from when it called. */
    record Granted(String operation, String token, Window call, long leaseNanos) implements OfToken {
        @Override
        public long startedAt() {
            return call.calledAt();
        }

        @Override
        public long endedAt() {
            return call.answeredAt();
        }
    }

    /** A handler that was told, when it asked, that its lease is not lost. */
    record Holding(String operation, String token, long at) implements OfToken, Instantaneous {}

    /** A claim that was given back before its handler began: it counts as no attempt. */
    record Uncounted(String operation, String token, long at) implements OfToken, Instantaneous {}

    /** A handler that is about to run. */
    record Ran(String operation, String token, int attempt, long at) implements OfToken, Instantaneous {}

    /** An owner that is about to store its result, be it a success or a failure. */
    record Completing(String operation, String token, String result, long at) implements OfToken, Instantaneous {}

    /** A result that the store accepted. */
    record Completed(String operation, String token, String result, Window call) implements Call {}

    /** An owner that is about to give its claim back. */
    record Releasing(String operation, String token, long at) implements OfToken, Instantaneous {}

    /** A claim that was given back, by its owner or by an operator in its name. */
    record Released(String operation, String token, Window call) implements Call {}

    /** A step that the store refused because the claim was lost. */
    record Refused(String operation, String token, String step, Window call) implements Call {}

    /** A result that a caller saw, its own or a replayed one. */
    record Answered(String operation, String result, long at) implements OfOperation, Instantaneous {}

    /**
     * A caller was told that the store gave the operation up: parked in doubt, or failed after too long or too many.
     */
    record GivenUp(String operation, long at) implements OfOperation, Instantaneous {}

    /** A process that is known to have been killed: its claims end with their leases. */
    record Abandoned(String owner, long at) implements Instantaneous {}
}
