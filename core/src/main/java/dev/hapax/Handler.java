package dev.hapax;

/** The work that is to be done once. */
@FunctionalInterface
public interface Handler<T, X extends Exception> {

    /**
     * Does the work.
     *
     * @return the result, which is stored and given to every retry
     * @throws TerminalFailure when the work failed for good: stored too
     * @throws X when the work failed and may be tried again: the claim is given back
     */
    T run(Lease lease) throws X;
}
