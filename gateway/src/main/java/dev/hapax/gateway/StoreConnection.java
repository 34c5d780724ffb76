package dev.hapax.gateway;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.cache.NearCache;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.embedded.postgres.EmbeddedPostgresException;
import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import dev.hapax.gateway.config.StoreSettings;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.postgres.PostgresStore;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Store;
import dev.hapax.store.StoreException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The gateway's PostgreSQL: a pool of connections, and the server itself where it is our own. */
final class StoreConnection implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final OperationId ANY = OperationId.of(new OperationKey("", "hapax", "start"));

    private final StoreSettings settings;
    private final @Nullable EmbeddedPostgres server;
    private final HikariDataSource pool;

    private StoreConnection(StoreSettings settings, @Nullable EmbeddedPostgres server) {
        this.settings = settings;
        this.server = server;
        this.pool = pool(settings, server);
    }

    /** Connects to nothing yet, but starts the server if it is our own. */
    static StoreConnection open(StoreSettings settings, Progress progress) {
        if (!settings.isEmbedded()) {
            return new StoreConnection(settings, null);
        }
        try {
            return new StoreConnection(settings, progress.during("Starting PostgreSQL", () -> server(settings.data())));
        } catch (EmbeddedPostgresException e) {
            throw new StartException(whyNotStarted(settings, e), e);
        }
    }

    /** A server whose gateway was killed a moment ago may still be on its way down. */
    private static EmbeddedPostgres server(Path data) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return EmbeddedPostgres.builder().dataDirectory(data).start();
            } catch (EmbeddedPostgresException e) {
                if (e.reason() != Reason.DATA_DIRECTORY_IN_USE || System.nanoTime() > end) {
                    throw e;
                }
                pause();
            }
        }
    }

    PostgresStore store() {
        return PostgresStore.over(pool);
    }

    /** With what is kept in memory in front of it, if anything is. */
    Store frontedStore() {
        OptionalInt bytes = settings.nearCache();
        return bytes.isEmpty()
                ? store()
                : NearCache.builder(store()).mostBytes(bytes.getAsInt()).build();
    }

    /**
     * Waits until the database answers and has our tables, which are made where that is allowed.
     *
     * @throws StartException when that does not happen in time
     */
    void await(Hapax hapax, Duration patience, Progress progress) {
        progress.during("Waiting for " + settings.shown(), () -> {
            long end = System.nanoTime() + patience.toNanos();
            while (!isReady(hapax, System.nanoTime() > end)) {
                pause();
            }
            return true;
        });
    }

    private boolean isReady(Hapax hapax, boolean last) {
        try {
            if (settings.migrate()) {
                PostgresSchema.migrate(pool);
            }
            hapax.find(ANY).toCompletableFuture().join();
            return true;
        } catch (CompletionException e) {
            if (e.getCause() instanceof StoreException cause) {
                return giveUpUnless(cause, last);
            }
            throw e;
        } catch (StoreException e) {
            return giveUpUnless(e, last);
        }
    }

    private boolean giveUpUnless(StoreException e, boolean last) {
        if (!e.retryable()) {
            String hint = settings.migrate()
                    ? ""
                    : System.lineSeparator() + "Or let the gateway do it: set store.migrate to true";
            throw new StartException("the store %s cannot be used: %s%s".formatted(settings.shown(), said(e), hint), e);
        }
        if (last) {
            throw new StartException(
                    "the store %s cannot be reached: %s%nStart it, correct store.url, or wait for it with --wait 1m"
                            .formatted(settings.shown(), said(e)),
                    e);
        }
        return false;
    }

    @Override
    public void close() {
        pool.close();
        if (server != null) {
            server.close();
        }
    }

    private static HikariDataSource pool(StoreSettings settings, @Nullable EmbeddedPostgres server) {
        HikariConfig config = config(settings, server);
        try {
            return new HikariDataSource(config);
        } catch (RuntimeException e) { // whose message may hold a password
            throw new StartException("the driver cannot make sense of store.url " + settings.shown(), e);
        }
    }

    private static HikariConfig config(StoreSettings settings, @Nullable EmbeddedPostgres server) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("hapax");
        config.setJdbcUrl(server == null ? settings.jdbcUrl().orElseThrow() : server.jdbcUrl());
        settings.user().ifPresent(config::setUsername);
        settings.password().ifPresent(config::setPassword);
        config.setMaximumPoolSize(settings.pool());
        config.setConnectionTimeout(settings.connectionTimeout().toMillis());
        config.setInitializationFailTimeout(-1);
        config.addDataSourceProperty("ApplicationName", "hapax");
        return config;
    }

    private static String whyNotStarted(StoreSettings settings, EmbeddedPostgresException e) {
        return switch (e.reason()) {
            case DATA_DIRECTORY_IN_USE ->
                "another gateway or demo already uses the data in %s; stop it first".formatted(settings.data());
            default -> "PostgreSQL did not start: " + e.getMessage();
        };
    }

    /** What the driver says, not what the pool makes of it. */
    private static String said(StoreException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        Throwable driver = cause.getCause() == null ? cause : cause.getCause();
        if (!e.retryable()) {
            return String.valueOf(e.getMessage());
        }
        return driver.getCause() instanceof UnknownHostException unknown
                ? "there is no host " + unknown.getMessage()
                : String.valueOf(driver.getMessage());
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartException("interrupted while waiting for the store", e);
        }
    }
}
