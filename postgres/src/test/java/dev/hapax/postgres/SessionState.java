package dev.hapax.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;

/**
 * All that a statement can leave behind in a session of PostgreSQL, as the session itself tells. Settings with a dot
 * are left out: they appear when the library of an extension is loaded.
 */
final class SessionState {
    private static final String EVERYTHING = """
            SELECT name, setting FROM pg_settings WHERE name NOT LIKE '%.%'
            UNION ALL
            SELECT 'advisory locks', count(*)::text FROM pg_locks
                WHERE locktype = 'advisory' AND pid = pg_backend_pid()
            UNION ALL
            SELECT 'listening to', string_agg(channel, ',') FROM pg_listening_channels() AS channel
            UNION ALL
            SELECT 'temporary tables', string_agg(relname, ',') FROM pg_class
                WHERE relnamespace = pg_my_temp_schema()
            UNION ALL
            SELECT 'open cursors', count(*)::text FROM pg_cursors WHERE name <> ''""";

    private SessionState() {}

    static Map<String, String> of(Connection connection) throws SQLException {
        Map<String, String> state = new TreeMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(EVERYTHING)) {
            while (row.next()) {
                state.put(row.getString(1), String.valueOf(row.getString(2)));
            }
        }
        return state;
    }
}
