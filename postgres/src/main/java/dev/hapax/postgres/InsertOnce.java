package dev.hapax.postgres;

import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Inserts a row once, or gives the one that is already there: for business tables whose natural key has a unique
 * constraint. Immutable; the connection is the caller's.
 *
 * <pre>{@code
 * InsertOnce.Row<Order> row = InsertOnce.into("orders")
 *     .unique("customer_id", customerId)
 *     .unique("order_no", orderNo)
 *     .set("amount", 4200)
 *     .on(connection, result -> new Order(result.getLong("id"), result.getInt("amount")));
 * }</pre>
 *
 * <p>Of many callers with the same natural key exactly one is told {@link Row#inserted}, and all are given the same
 * row, as it is stored. A row that was there is left as it is: the columns of {@link #set} count for a new row only.
 *
 * <p>Within a transaction, the row is inserted with it; a conflict leaves the transaction usable. With auto-commit, the
 * row is committed at once. Never commits or rolls back itself. As with any unique constraint, a caller waits for a
 * transaction that has inserted the same key and not ended yet; {@code lock_timeout} limits that.
 *
 * <p>Under READ COMMITTED, a row that is deleted between the conflict and the look is simply inserted anew, and whoever
 * finds neither is never told that it was inserted. Under REPEATABLE READ and SERIALIZABLE, a row that was committed
 * after the transaction took its snapshot can be neither inserted nor seen: that is a {@link StoreUnavailableException}
 * (SQLState 40001), and the transaction is to be rolled back and begun again.
 *
 * <p>Names are taken exactly as PostgreSQL keeps them: in lower case unless they were created within quotes. Values go
 * to {@link PreparedStatement#setObject(int, Object)}; those of the natural key must be what the columns store, not
 * something that they would round or cut.
 */
public final class InsertOnce {
    private static final int MOST_ATTEMPTS = 5;
    private static final String NO_MATCHING_CONSTRAINT = "42P10"; // invalid_column_reference

    private static final String INSERT = """
            INSERT INTO %s (%s)
            VALUES (%s)
            ON CONFLICT (%s) DO NOTHING
            RETURNING *""";

    private static final String LOOK = """
            SELECT * FROM %s
            WHERE %s""";

    private final String table;
    private final List<Column> key;
    private final List<Column> others;

    /** Reads the row that the result set stands on. */
    @FunctionalInterface
    public interface Mapper<T> {
        T read(ResultSet row) throws SQLException;
    }

    /**
     * The one row with the natural key.
     *
     * @param inserted whether this call inserted it
     */
    public record Row<T>(boolean inserted, T value) {}

    private record Column(String name, @Nullable Object value) {}

    private InsertOnce(String table, List<Column> key, List<Column> others) {
        this.table = table;
        this.key = key;
        this.others = others;
    }

    /**
     * Begins with the table.
     *
     * @param table a table of the {@code search_path}, or {@code schema.table}
     * @throws IllegalArgumentException when this cannot be a table's name
     */
    public static InsertOnce into(String table) {
        return new InsertOnce(Identifiers.quoteTable(table), List.of(), List.of());
    }

    /**
     * A column of the natural key. All of them together must be the columns of a unique constraint or index, in any
     * order.
     *
     * @throws IllegalArgumentException when the value is {@code null}, which never conflicts with anything
     */
    public InsertOnce unique(String column, @Nullable Object value) {
        if (value == null) {
            throw new IllegalArgumentException(
                    "%s is null; nulls never conflict, so a row with one in its natural key could be inserted twice"
                            .formatted(Identifiers.quote(column)));
        }
        return new InsertOnce(table, plus(key, column, value), others);
    }

    /** A column besides the natural key; what is left out gets its default. */
    public InsertOnce set(String column, @Nullable Object value) {
        return new InsertOnce(table, key, plus(others, column, value));
    }

    /**
     * Inserts the row, or looks up the one that is there.
     *
     * @throws IllegalArgumentException when no column is {@link #unique}
     * @throws StoreUnavailableException when the same call may succeed later, in a new transaction
     * @throws StoreException when PostgreSQL refuses, for example because no unique constraint fits
     */
    public <T> Row<T> on(Connection connection, Mapper<T> mapper) {
        if (key.isEmpty()) {
            throw new IllegalArgumentException("without unique(column, value) nothing could be inserted only once");
        }
        try {
            for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
                Optional<Row<T>> row = insertOrLook(connection, mapper);
                if (row.isPresent()) {
                    return row.get();
                }
            }
        } catch (SQLException e) {
            throw translate(e);
        }
        throw new StoreUnavailableException(
                "a row of %s was in the way %d times, and was gone or not to be seen when looked for; are the values "
                                .formatted(table, MOST_ATTEMPTS)
                        + "of %s exactly what the columns store?".formatted(names(key)),
                null);
    }

    /** The look is a statement of its own: it sees what was committed since the insert began. */
    private <T> Optional<Row<T>> insertOrLook(Connection connection, Mapper<T> mapper) throws SQLException {
        Optional<Row<T>> inserted = run(connection, insert(), columns(), row -> new Row<>(true, mapper.read(row)));
        return inserted.isPresent()
                ? inserted
                : run(connection, look(), key, row -> new Row<>(false, mapper.read(row)));
    }

    private static <R> Optional<R> run(Connection connection, String sql, List<Column> values, Mapper<R> mapper)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.size(); i++) {
                statement.setObject(i + 1, values.get(i).value()); // the column at i
            }
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(mapper.read(row)) : Optional.empty();
            }
        }
    }

    private String insert() {
        List<Column> columns = columns();
        String values = String.join(", ", Collections.nCopies(columns.size(), "?"));
        return INSERT.formatted(table, names(columns), values, names(key));
    }

    private String look() {
        String condition = key.stream()
                .map(column -> Identifiers.quote(column.name()) + " = ?")
                .collect(Collectors.joining(" AND "));
        return LOOK.formatted(table, condition);
    }

    private List<Column> columns() {
        List<Column> all = new ArrayList<>(key);
        all.addAll(others);
        return all;
    }

    private static String names(List<Column> columns) {
        return Identifiers.quoteAll(columns.stream().map(Column::name).toList());
    }

    private List<Column> plus(List<Column> columns, String name, @Nullable Object value) {
        String quoted = Identifiers.quote(name);
        if (columns().stream().anyMatch(column -> column.name().equals(name))) {
            throw new IllegalArgumentException("column %s is given twice".formatted(quoted));
        }
        List<Column> more = new ArrayList<>(columns);
        more.add(new Column(name, value));
        return List.copyOf(more);
    }

    private StoreException translate(SQLException e) {
        if (SqlErrors.isUnavailable(e) || SqlErrors.isContention(e)) {
            return SqlErrors.translate(e);
        }
        String said = "%s (SQLState %s)".formatted(e.getMessage(), e.getSQLState());
        if (NO_MATCHING_CONSTRAINT.equals(e.getSQLState())) {
            return new StoreException(
                    "no unique constraint fits the natural key: CREATE UNIQUE INDEX ON %s (%s). %s"
                            .formatted(table, names(key), said),
                    e);
        }
        return new StoreException("PostgreSQL refused a row of %s: %s".formatted(table, said), e);
    }
}
