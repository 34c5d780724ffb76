package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import dev.hapax.embedded.postgres.Postmaster.StopMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real PostgreSQL server that runs as a child of this process and listens on 127.0.0.1 only.
 *
 * <p>It is as durable as any PostgreSQL: {@code fsync}, {@code synchronous_commit} and {@code full_page_writes} are on.
 * Its one user is {@code postgres}, with a random password that {@link #jdbcUrl()} carries.
 *
 * <p>The server stops with {@link #close()}, and also when this process ends in any other way, {@code kill -9}
 * included. Windows is the exception: there a shutdown hook stops it, which a killed process does not run.
 *
 * <p>Safe for use by many threads. Failures are {@link EmbeddedPostgresException}s with a typed reason; one during
 * start leaves nothing running.
 */
public final class EmbeddedPostgres implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedPostgres.class);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(20);

    private final ServerStart start;
    private final int port;
    private final String password;
    private Postmaster postmaster;
    private boolean suspended;
    private boolean closed;

    private EmbeddedPostgres(ServerStart start, int port, Postmaster postmaster) throws IOException {
        this.start = start;
        this.port = port;
        this.postmaster = postmaster;
        this.password = start.data().password();
    }

    /** Starts a server on a temporary data directory and a free port. */
    public static EmbeddedPostgres start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The JDBC URL of the database {@code postgres}, with user and password in it. */
    public String jdbcUrl() {
        return jdbcUrl("postgres");
    }

    /** The JDBC URL of a database, which need not exist yet, with user and password in it. */
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + URLEncoder.encode(database, StandardCharsets.UTF_8)
                + "?user=" + user() + "&password=" + password;
    }

    public int port() {
        return port;
    }

    public String user() {
        return DataDirectory.USER;
    }

    public String password() {
        return password;
    }

    public Path dataDirectory() {
        return start.data().path();
    }

    /** The process id of the server's first process, or of the last one if it is down. */
    public synchronized long pid() {
        return postmaster.pid();
    }

    public synchronized boolean isRunning() {
        return postmaster.isRunning();
    }

    /** Kills all processes of the server at once, as a crash would; does nothing if it is down. */
    public synchronized void kill() {
        unchecked(this::killTree);
    }

    /** Starts the server again on the same data and the same port, after stopping it if it runs. */
    public synchronized void restart() {
        if (closed) {
            throw new IllegalStateException("The server on " + dataDirectory() + " is closed");
        }
        unchecked(() -> {
            stop(StopMode.FAST);
            postmaster = start.on(port);
        });
    }

    /** Freezes all processes of the server: connections stay open and nothing answers. Not on Windows. */
    public synchronized void suspend() {
        requireRunning();
        suspended = true;
        unchecked(() -> Signals.suspend(postmaster.pid()));
    }

    /** Lets a suspended server run on. Not on Windows. */
    public synchronized void resume() {
        requireRunning();
        unchecked(() -> Signals.resume(postmaster.pid()));
        suspended = false;
    }

    /**
     * Stops the server, and removes its data if the data directory is temporary; does nothing the second time.
     *
     * <p>An interrupted thread closes all the same, and stays interrupted.
     */
    @Override
    public synchronized void close() {
        boolean interrupted = Thread.interrupted();
        try {
            if (!closed) {
                unchecked(this::stopAndRemove);
                closed = true;
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void stopAndRemove() throws IOException {
        boolean temporary = start.data().temporary();
        stop(temporary ? StopMode.IMMEDIATE : StopMode.FAST);
        if (temporary) {
            Trees.delete(start.data().path());
        }
    }

    private void stop(StopMode mode) throws IOException {
        if (!postmaster.isRunning()) {
            return;
        }
        if (suspended) {
            resume();
        }
        postmaster.requestStop(mode);
        if (!postmaster.awaitExit(STOP_LIMIT)) {
            LOG.warn("PostgreSQL {} did not stop in {} s and is killed", postmaster.pid(), STOP_LIMIT.toSeconds());
            killTree();
        }
    }

    private void killTree() throws IOException {
        if (postmaster.isRunning()) {
            Signals.kill(postmaster.pid());
            postmaster.awaitExit(STOP_LIMIT);
        }
        suspended = false;
    }

    private void requireRunning() {
        if (!postmaster.isRunning()) {
            throw new IllegalStateException("The server on " + dataDirectory() + " is not running");
        }
    }

    private interface Action {

        void run() throws IOException;
    }

    private static void unchecked(Action action) {
        try {
            action.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The choices before a start. Not safe for use by many threads. */
    public static final class Builder {

        private static final Set<String> OWN_SETTINGS =
                Set.of("data_directory", "listen_addresses", "port", "unix_socket_directories");
        private static final int PORT_ATTEMPTS = 5;

        private final Map<String, String> settings = new LinkedHashMap<>();
        private @Nullable Path binaries;
        private @Nullable Path cacheDirectory;
        private @Nullable Path dataDirectory;
        private int port;

        private Builder() {}

        /**
         * Takes PostgreSQL from here, not from the class path.
         *
         * @param path an installation with {@code bin/postgres} in it, or a jar or {@code .txz} with one packed
         */
        public Builder binaries(Path path) {
            binaries = Objects.requireNonNull(path, "path");
            return this;
        }

        /** Unpacks the binaries below here; by default below the user's cache directory. */
        public Builder cacheDirectory(Path path) {
            cacheDirectory = Objects.requireNonNull(path, "path");
            return this;
        }

        /** Keeps the data here beyond {@link EmbeddedPostgres#close()}; a missing directory is made. */
        public Builder dataDirectory(Path path) {
            dataDirectory = Objects.requireNonNull(path, "path");
            return this;
        }

        /** Listens on this port; by default on a free one. */
        public Builder port(int port) {
            if (port < 1 || port > 65_535) {
                throw new IllegalArgumentException("Not a port: " + port);
            }
            this.port = port;
            return this;
        }

        /** Sets one of PostgreSQL's settings, as in {@code postgresql.conf}. */
        public Builder setting(String name, String value) {
            if (!name.matches("[a-z_][a-z0-9_.]*") || OWN_SETTINGS.contains(name)) {
                throw new IllegalArgumentException("Not a setting that can be changed: " + name);
            }
            if (value.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException("Control character in the value of " + name);
            }
            settings.put(name, value);
            return this;
        }

        /**
         * Starts the server and returns once it accepts connections.
         *
         * @throws EmbeddedPostgresException if it does not start; nothing is left running
         */
        public EmbeddedPostgres start() {
            try {
                return startChecked();
            } catch (IOException e) {
                throw new EmbeddedPostgresException(
                        Reason.SERVER_FAILED, "PostgreSQL did not start: " + e.getMessage(), e);
            }
        }

        private EmbeddedPostgres startChecked() throws IOException {
            Binaries found = findBinaries();
            DataDirectory data =
                    dataDirectory == null ? DataDirectory.inTemporaryDirectory() : DataDirectory.at(dataDirectory);
            boolean started = false;
            try {
                RunAs runAs = RunAs.forDataDirectory(data.path());
                data.prepare(found, runAs);
                EmbeddedPostgres server = startOnPort(new ServerStart(found, data, runAs, settings));
                started = true;
                return server;
            } finally {
                if (!started && data.temporary()) {
                    Trees.delete(data.path());
                }
            }
        }

        private EmbeddedPostgres startOnPort(ServerStart start) throws IOException {
            for (int attempt = 1; ; attempt++) {
                int candidate = port == 0 ? Ports.anyFree() : port;
                try {
                    EmbeddedPostgres server = new EmbeddedPostgres(start, candidate, start.on(candidate));
                    stopWithThisProcess(server);
                    LOG.info(
                            "PostgreSQL {} listens on 127.0.0.1:{}",
                            start.binaries().majorVersion(),
                            candidate);
                    return server;
                } catch (EmbeddedPostgresException e) {
                    if (port != 0 || e.reason() != Reason.PORT_IN_USE || attempt == PORT_ATTEMPTS) {
                        throw e;
                    }
                }
            }
        }

        private static void stopWithThisProcess(EmbeddedPostgres server) {
            if (Platform.isWindows()) {
                Runtime.getRuntime().addShutdownHook(new Thread(server::close, "hapax-postgres-stop"));
            }
        }

        private Binaries findBinaries() throws IOException {
            if (binaries != null && Files.isDirectory(binaries)) {
                return Binaries.in(binaries, false);
            }
            BinaryCache cache = cacheDirectory == null
                    ? BinaryCache.ofCurrentUser()
                    : new BinaryCache(cacheDirectory.toAbsolutePath());
            return cache.unpacked(binaries == null ? Archive.onClassPath() : Archive.in(binaries));
        }
    }
}
