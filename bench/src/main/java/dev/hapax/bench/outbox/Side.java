package dev.hapax.bench.outbox;

import java.sql.SQLException;

/**
 * One outbox: how messages get into it, and who delivers them. Each transaction writes an order and some messages.
 * Delivery is a counter, so that what is measured is the outbox.
 */
interface Side extends AutoCloseable {

    /** Writes an order and messages with the given numbers in one transaction; whoever delivers may begin at once. */
    void append(int from, int to) throws SQLException;

    /** Whether appended messages are delivered, from now on. What was appended while nobody delivered waits. */
    void deliver(boolean deliver);

    long delivered();

    /** How many messages are left in the table. */
    long left() throws SQLException;

    @Override
    void close();
}
