package dev.hapax.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Keeps the planner on the index within a transaction of the caller's, whatever the statistics are: the setting is put
 * back in the same round trip, before the caller's next statement.
 */
final class IndexPlans {
    /** Expressions that forbid sequential scans to the statements after this one. */
    static final String FORCE = """
            set_config('hapax.seqscan', current_setting('enable_seqscan'), true),
                set_config('enable_seqscan', 'off', true)""";

    /** An expression that takes this back when it is evaluated; its own statement has been planned by then. */
    static final String RESTORE = "set_config('enable_seqscan', current_setting('hapax.seqscan'), true)";

    private IndexPlans() {}

    interface Binder {
        void bind(PreparedStatement statement) throws SQLException;
    }

    /** @return how many rows it changed */
    static int update(Connection connection, String sql, Binder binder) throws SQLException {
        String forced = "SELECT " + FORCE + "; " + sql + "; SELECT " + RESTORE;
        try (PreparedStatement statement = connection.prepareStatement(forced)) {
            binder.bind(statement);
            statement.execute();
            statement.getMoreResults();
            return statement.getUpdateCount();
        }
    }
}
