package dev.hapax.examples.orders;

import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import javax.sql.DataSource;

/**
 * What is in the databases and at the broker in the end.
 *
 * @param references the client's name of each order
 * @param orders the id of each order, in order
 * @param mailed the order of each mail, in order
 * @param left how many messages are still in the outbox, in the queue or among the dead letters
 */
record Found(List<String> references, List<Long> orders, List<Long> mailed, long left) {

    static Found in(Servers servers, long outbox) throws SQLException, IOException, TimeoutException {
        long queued = LongStream.of(
                        servers.broker().depth(Servers.QUEUE), servers.broker().depth(Servers.DEAD_LETTERS))
                .sum();
        return new Found(
                list(servers.orders(), "SELECT reference FROM orders").stream()
                        .map(Object::toString)
                        .toList(),
                numbers(servers.orders(), "SELECT id FROM orders ORDER BY id"),
                numbers(servers.mail(), "SELECT order_id FROM mail ORDER BY order_id"),
                outbox + queued);
    }

    private static List<Long> numbers(DataSource dataSource, String sql) throws SQLException {
        return list(dataSource, sql).stream().map(Long.class::cast).toList();
    }

    private static List<Object> list(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet rows = statement.executeQuery()) {
            List<Object> list = new ArrayList<>();
            while (rows.next()) {
                list.add(rows.getObject(1));
            }
            return list;
        }
    }

    /** Whether each of so many orders was placed once and mailed once. */
    boolean isExactlyOnce(int asked) {
        return orders.size() == asked
                && new HashSet<>(references).size() == asked
                && mailed.equals(orders)
                && left == 0;
    }
}
