package dev.hapax.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;

/** Runs one statement for many values: alone in one round trip, or as a batch in one transaction. */
final class Statements {
    private Statements() {}

    interface Binder<Q> {
        void bind(PreparedStatement statement, Q value) throws SQLException;
    }

    /** @return how many rows each of them changed */
    static <Q> int[] updateAll(Session session, Session.Guard guard, String sql, Binder<Q> binder, List<Q> values)
            throws SQLException {
        if (values.size() == 1) {
            return new int[] {update(session, guard, sql, binder, values.get(0))};
        }
        session.begin(guard);
        int[] counts;
        try (PreparedStatement statement = session.prepare(sql)) {
            for (Q value : values) {
                binder.bind(statement, value);
                statement.addBatch();
            }
            counts = statement.executeBatch();
        }
        session.commit();
        return counts;
    }

    static <Q> int update(Session session, Session.Guard guard, String sql, Binder<Q> binder, Q value)
            throws SQLException {
        try (PreparedStatement statement = session.prepareAlone(guard, sql)) {
            binder.bind(statement, value);
            Session.executeAlone(statement);
            return statement.getUpdateCount();
        }
    }

    /** Binds one column of many values as an array. */
    static <Q, V> void bindAll(
            PreparedStatement statement,
            int index,
            String type,
            IntFunction<V[]> array,
            List<Q> values,
            Function<Q, V> column)
            throws SQLException {
        V[] all = values.stream().map(column).toArray(array);
        statement.setArray(index, statement.getConnection().createArrayOf(type, all));
    }
}
