package dev.hapax.messaging;

import dev.hapax.Lease;

/**
 * The work that a message asks for, in a database transaction that also holds the record of it: both are there, or
 * neither.
 *
 * @param <C> what it writes with, such as {@code java.sql.Connection}
 */
@FunctionalInterface
public interface TransactionalHandler<M, C> {

    /**
     * Does the work. It neither commits nor rolls back.
     *
     * @throws dev.hapax.TerminalFailure when it failed for good: its writes are taken back, the failure is recorded,
     *     and the message goes to the dead letters
     * @throws Exception when it failed and may be tried again: its writes are rolled back and the message is retried
     *     later
     */
    void handle(M message, C connection, Lease lease) throws Exception;
}
