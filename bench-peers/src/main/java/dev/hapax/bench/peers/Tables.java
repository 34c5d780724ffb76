package dev.hapax.bench.peers;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * A peer's tables: created once with the statements of its documentation, then filled and analysed.
 *
 * <p>The other sides of the benchmark start with as many rows. On an empty table a peer could be given plans that are
 * bad for it a minute later.
 */
final class Tables {
    private static final int ROWS = 20_000;

    private final DataSource dataSource;

    Tables(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Runs the script if the table does not exist. */
    void create(String table, Resource script) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            if (!exists(connection, table)) {
                ScriptUtils.executeSqlScript(connection, script);
            }
        }
    }

    /**
     * Fills a table that has no rows yet, and analyses it.
     *
     * @param values what is selected, in the order of the columns, for each {@code n}
     */
    void fill(String table, String columns, String values) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "INSERT INTO %s (%s) SELECT %s FROM generate_series(1, %d) n WHERE NOT EXISTS (TABLE %1$s)"
                            .formatted(table, columns, values, ROWS));
            statement.execute("VACUUM ANALYZE " + table);
        }
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")) {
            select.setString(1, table);
            try (ResultSet row = select.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }
}
