package dev.hapax.bench.peers;

/**
 * Another library that keeps work from being done twice, used as its documentation says.
 *
 * <p>All methods may be called by many threads at once. Each of them checks what the library answered and throws
 * {@link IllegalStateException} if it did not do its job, so that nothing is measured that did not happen.
 */
public interface Peer extends AutoCloseable {
    /** The library and the class that are measured. */
    String name();

    /** What it does not do that Hapax does, in one line. */
    String doesNot();

    /**
     * One operation with a key of its own: the nearest equivalent of a claim, a trivial handler and a stored result.
     */
    void fresh() throws Exception;

    /** The operation that {@link #replay} asks for again, done for the first time. Once for each key. */
    void prepare(String key) throws Exception;

    /** A duplicate of an operation that was prepared: the library must notice, and the handler must not run. */
    void replay(String key) throws Exception;

    /** Stops what the library runs. The data source it was given stays open. */
    @Override
    void close() throws Exception;
}
