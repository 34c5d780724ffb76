package dev.hapax.embedded.postgres;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** One statement at a time, each on a connection of its own. */
final class Queries {

    private Queries() {}

    static void execute(EmbeddedPostgres server, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static String query(EmbeddedPostgres server, String sql) throws SQLException {
        return query(server.jdbcUrl(), sql);
    }

    static String query(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
