package dev.hapax.store;

/**
 * Where transactions of the application's database come from, for work that commits together with its record. Safe for
 * use by many threads.
 *
 * @param <C> what the work writes with, such as {@code java.sql.Connection}
 */
public interface Transactions<C> {

    /**
     * Runs the work in a transaction of its own and commits it. What the work throws rolls everything back and is
     * thrown here.
     *
     * @throws StoreException when the transaction could not be begun or committed. If it is
     *     {@link StoreUnavailableException}, whether it was committed is unknown, or another claimer was faster:
     *     running the same operation again is safe, and tells
     */
    <T> T call(Work<C, T> work) throws Exception;

    /** What is done in a transaction. */
    @FunctionalInterface
    interface Work<C, T> {
        /**
         * Does the work. It must neither commit nor roll back the transaction, nor roll it back to a savepoint from
         * before its last operation: then nothing more is committed, and {@link Transactions#call} fails.
         *
         * @param transaction the same transaction, enlisted; neither is to be used after this returns
         */
        T run(C connection, StoreTransaction transaction) throws Exception;
    }
}
