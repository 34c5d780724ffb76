package dev.hapax.postgres;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Quotes the names of tables and columns, so that no name is ever read as SQL. */
final class Identifiers {
    private static final int SCHEMA_AND_TABLE = 2;

    private Identifiers() {}

    /** @throws IllegalArgumentException when the name is empty or holds NUL, which PostgreSQL cannot */
    static String quote(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the name of a table or column is empty");
        }
        if (name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("the name of a table or column holds a NUL character");
        }
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** Quotes {@code table} or {@code schema.table}. */
    static String quoteTable(String name) {
        String[] parts = name.split("\\.", -1);
        if (parts.length > SCHEMA_AND_TABLE) {
            throw new IllegalArgumentException(
                    "\"%s\" is neither a table nor a schema and a table, as in app.orders".formatted(name));
        }
        return Arrays.stream(parts).map(Identifiers::quote).collect(Collectors.joining("."));
    }

    static String quoteAll(List<String> columns) {
        return columns.stream().map(Identifiers::quote).collect(Collectors.joining(", "));
    }
}
