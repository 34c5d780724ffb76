package dev.hapax.postgres;

import dev.hapax.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hapax's tables and how they come to be. The tables go where the connection's {@code search_path} points.
 *
 * <p>The same numbered files can be run by Flyway or Liquibase instead: they are resources below {@link #LOCATION}.
 * With Flyway, give them a history table of their own, since your migrations are numbered too. Either that or
 * {@link #migrate}, not both.
 */
public final class PostgresSchema {
    private static final Logger log = LoggerFactory.getLogger(PostgresSchema.class);

    /** Where the files are on the class path. */
    public static final String LOCATION = "dev/hapax/postgres/schema";

    private static final List<String> FILES = List.of("V001__operations.sql", "V002__outbox.sql");
    private static final long LOCK = 0x6861706178L; // "hapax"

    private PostgresSchema() {}

    /**
     * Brings the tables up to date, in one transaction. Many instances may call it at once: one does the work, the
     * others wait for it.
     *
     * @throws StoreException when the database cannot be reached or refuses, or the data source gives a connection in
     *     the middle of a transaction; nothing has changed then
     */
    public static void migrate(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            if (autoCommit) {
                connection.setAutoCommit(false);
            } else {
                Session.requireNoTransaction(connection);
            }
            try {
                migrate(connection);
                connection.commit();
                connection.setAutoCommit(autoCommit);
            } catch (Throwable e) {
                rollBack(connection, autoCommit, e);
                throw e;
            }
        } catch (SQLException e) {
            throw SqlErrors.translate(e);
        }
    }

    /** To switch auto-commit on commits, so that comes after the rollback, and only if that succeeded. */
    private static void rollBack(Connection connection, boolean autoCommit, Throwable thrown) {
        try {
            connection.rollback();
            connection.setAutoCommit(autoCommit);
        } catch (SQLException | RuntimeException broken) {
            thrown.addSuppressed(broken);
        }
    }

    private static void migrate(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            // A stricter level would look with a snapshot from before the lock.
            statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
            statement.execute("""
                    CREATE TABLE IF NOT EXISTS hapax_schema (
                        file       text        NOT NULL PRIMARY KEY,
                        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
                    )""");
            Set<String> applied = applied(statement);
            for (String file : FILES) {
                if (!applied.contains(file)) {
                    statement.execute(read(file));
                    record(connection, file);
                    log.info("Applied {}", file);
                }
            }
        }
    }

    private static Set<String> applied(Statement statement) throws SQLException {
        Set<String> files = new HashSet<>();
        try (ResultSet rows = statement.executeQuery("SELECT file FROM hapax_schema")) {
            while (rows.next()) {
                files.add(rows.getString("file"));
            }
        }
        return files;
    }

    private static void record(Connection connection, String file) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO hapax_schema (file) VALUES (?)")) {
            insert.setString(1, file);
            insert.executeUpdate();
        }
    }

    private static String read(String file) {
        String resource = "/" + LOCATION + "/" + file;
        try (InputStream in = PostgresSchema.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new StoreException(resource + " is not on the class path", null);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
