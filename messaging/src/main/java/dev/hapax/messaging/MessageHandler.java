package dev.hapax.messaging;

import dev.hapax.Lease;

/** The work that a message asks for, to be done once. */
@FunctionalInterface
public interface MessageHandler<M> {

    /**
     * Does the work, on a thread that may block.
     *
     * @param lease which attempt this is, and keys for systems that are called
     * @throws dev.hapax.TerminalFailure when it failed for good: the message goes to the dead letters
     * @throws Exception when it failed and may be tried again: the message is retried later
     */
    void handle(M message, Lease lease) throws Exception;
}
