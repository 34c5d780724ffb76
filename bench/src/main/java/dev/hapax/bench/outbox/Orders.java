package dev.hapax.bench.outbox;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.bench.peers.Payload;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The business of both sides: a table of orders, and what a message about one looks like. */
final class Orders {
    private static final int AGGREGATES = 1_000;
    private static final String FILLING = Payload.text(250);

    private Orders() {}

    static void create(HikariDataSource pool) throws SQLException {
        execute(pool, "CREATE TABLE IF NOT EXISTS orders (id bigint GENERATED ALWAYS AS IDENTITY, buyer text)");
    }

    static void insert(Connection connection, int number) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO orders (buyer) VALUES (?)")) {
            insert.setString(1, "buyer-" + number); // buyer
            insert.executeUpdate();
        }
    }

    static String aggregate(int number) {
        return "order-" + number % AGGREGATES;
    }

    /** Some 300 bytes. */
    static String body(int number) {
        return "{\"number\":%d,\"text\":\"%s\"}".formatted(number, FILLING);
    }

    static byte[] bytes(int number) {
        return body(number).getBytes(StandardCharsets.UTF_8);
    }

    static HikariDataSource pool(String jdbcUrl, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setMaximumPoolSize(size);
        return new HikariDataSource(config);
    }

    static void execute(HikariDataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static long count(HikariDataSource pool, String table) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM " + table)) {
            row.next();
            return row.getLong(1);
        }
    }
}
