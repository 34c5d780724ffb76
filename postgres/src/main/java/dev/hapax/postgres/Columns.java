package dev.hapax.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** The columns of many values, each bound as one array to the {@code unnest} of a statement that takes them all. */
final class Columns<Q> {
    private final List<Column<Q, ?>> columns = new ArrayList<>();

    private record Column<Q, V>(String type, IntFunction<@Nullable V[]> array, Function<Q, @Nullable V> value) {
        void bind(PreparedStatement statement, int index, List<Q> rows) throws SQLException {
            @Nullable V[] values = array.apply(rows.size());
            for (int i = 0; i < values.length; i++) {
                values[i] = value.apply(rows.get(i));
            }
            statement.setArray(index, statement.getConnection().createArrayOf(type, values));
        }
    }

    Columns<Q> uuid(Function<Q, UUID> value) {
        return add("uuid", UUID[]::new, value);
    }

    Columns<Q> text(Function<Q, @Nullable String> value) {
        return add("text", String[]::new, value);
    }

    Columns<Q> bytea(Function<Q, byte @Nullable []> value) {
        return add("bytea", byte[][]::new, value);
    }

    Columns<Q> int4(Function<Q, Integer> value) {
        return add("int4", Integer[]::new, value);
    }

    Columns<Q> int8(Function<Q, @Nullable Long> value) {
        return add("int8", Long[]::new, value);
    }

    private <V> Columns<Q> add(String type, IntFunction<@Nullable V[]> array, Function<Q, @Nullable V> value) {
        columns.add(new Column<>(type, array, value));
        return this;
    }

    /** Runs a statement for all rows, in one round trip. @return the tokens that it returns, its first column */
    Set<UUID> run(Session session, StatementSettings settings, String sql, List<Q> rows) throws SQLException {
        try (PreparedStatement statement = session.prepare(settings, sql)) {
            for (int i = 0; i < columns.size(); i++) {
                columns.get(i).bind(statement, i + 1, rows);
            }
            session.execute(settings, statement);
            Set<UUID> tokens = new HashSet<>();
            try (ResultSet row = statement.getResultSet()) {
                while (row.next()) {
                    tokens.add(row.getObject(1, UUID.class));
                }
            }
            return tokens;
        }
    }
}
