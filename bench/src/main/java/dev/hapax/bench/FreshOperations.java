package dev.hapax.bench;

/** One side that can run fresh operations over a pool of its own. Safe for use by many threads. */
interface FreshOperations extends AutoCloseable {
    /** Claims a new operation, runs the handler and stores its result; returns when all of it is committed. */
    void fresh() throws Exception;

    @Override
    void close() throws Exception;

    /** Opens a side over a pool of so many connections. */
    interface Opening {
        FreshOperations open(int poolSize) throws Exception;
    }
}
