package dev.hapax.postgres;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What holds for one transaction, whatever the server's settings and statistics are.
 *
 * <p>A table that was analysed while it was empty makes the planner prefer to read all of it, and keep that plan when
 * there are millions of rows. So these settings leave it no way to read a table but by the key, or by the deadline.
 */
final class StatementSettings {
    static final StatementSettings NONE = new StatementSettings(List.of());

    private final String sql;

    /** Whole texts, so that the driver finds what it has prepared by one and the same string. */
    private final Map<String, String> texts = new ConcurrentHashMap<>();

    private StatementSettings(List<String> settings) {
        sql = settings.isEmpty() ? "" : "SELECT " + String.join(", ", settings) + "; ";
    }

    /** Only a bitmap scan is left, and that needs a condition on an index. */
    static StatementSettings byOneKey(Duration lockTimeout) {
        return new StatementSettings(
                List.of(set("enable_seqscan", "off"), set("enable_indexscan", "off"), lockTimeout(lockTimeout)));
    }

    /** The same for statements that take arrays, which PostgreSQL would plan anew each time. */
    static StatementSettings byKey(Duration lockTimeout) {
        return new StatementSettings(List.of(
                set("enable_seqscan", "off"),
                set("enable_indexscan", "off"),
                set("plan_cache_mode", "force_generic_plan"),
                lockTimeout(lockTimeout)));
    }

    /** For statements that read no table. */
    static StatementSettings lockTimeoutOnly(Duration lockTimeout) {
        return new StatementSettings(List.of(lockTimeout(lockTimeout)));
    }

    static StatementSettings byDeadline(Duration lockTimeout) {
        return new StatementSettings(
                List.of(set("enable_seqscan", "off"), set("enable_sort", "off"), lockTimeout(lockTimeout)));
    }

    /**
     * Set by a statement of its own, which comes first: a statement waits for a lock on the table before it evaluates
     * anything.
     */
    private static String lockTimeout(Duration lockTimeout) {
        return set("lock_timeout", lockTimeout.toMillis() + "ms");
    }

    private static String set(String name, String value) {
        return "set_config('%s', '%s', true)".formatted(name, value);
    }

    String before(String statement) {
        return sql.isEmpty() ? statement : texts.computeIfAbsent(statement, it -> sql + it);
    }

    int results() {
        return sql.isEmpty() ? 0 : 1;
    }
}
