package dev.hapax.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Runs one statement for one value. */
final class Statements {
    private Statements() {}

    interface Binder<Q> {
        void bind(PreparedStatement statement, Q value) throws SQLException;
    }

    /** @return how many rows it changed */
    static <Q> int update(Session session, StatementSettings settings, String sql, Binder<Q> binder, Q value)
            throws SQLException {
        try (PreparedStatement statement = session.prepare(settings, sql)) {
            binder.bind(statement, value);
            session.execute(settings, statement);
            return statement.getUpdateCount();
        }
    }
}
