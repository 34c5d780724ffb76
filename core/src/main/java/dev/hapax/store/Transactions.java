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
     *     {@link StoreUnavailableException}, whether it was committed is unknown: running the same operation again is
     *     safe, and tells
     */
    <T> T call(Work<C, T> work) throws Exception;

    /** What is done in a transaction. */
    @FunctionalInterface
    interface Work<C, T> {
        /** @param transaction the same transaction, enlisted; neither is to be used after this returns */
        T run(C connection, StoreTransaction transaction) throws Exception;
    }
}
