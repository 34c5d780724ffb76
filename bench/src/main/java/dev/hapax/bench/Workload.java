package dev.hapax.bench;

import java.sql.SQLException;

/** One side of a comparison: a load that can be run again and again. */
interface Workload extends AutoCloseable {
    String name();

    /**
     * Runs the load once, for about as long as the effort says.
     *
     * @return operations per second
     */
    double round(Effort effort) throws Exception;

    @Override
    default void close() throws SQLException {}
}
