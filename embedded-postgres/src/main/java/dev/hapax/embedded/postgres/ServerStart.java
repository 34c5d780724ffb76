package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** All that a start needs and every restart needs again. */
record ServerStart(Binaries binaries, DataDirectory data, RunAs runAs, Map<String, String> settings) {

    private static final Duration READY = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(10);

    ServerStart {
        settings = Map.copyOf(settings);
    }

    /** Starts the server and returns once it accepts connections; on failure nothing keeps running. */
    Postmaster on(int port) throws IOException {
        requireUnused(port);
        data.forgetReplacedServer();
        data.writeSettings(settingsFor(port), runAs);
        Postmaster postmaster = launch();
        boolean ready = false;
        try {
            awaitReady(postmaster, port);
            ready = true;
            return postmaster;
        } finally {
            if (!ready && postmaster.isRunning()) {
                Signals.kill(postmaster.pid());
            }
        }
    }

    static EmbeddedPostgresException failed(String what, DataDirectory data) {
        try {
            return new EmbeddedPostgresException(
                    Reason.SERVER_FAILED, what + "; the end of " + data.log() + ":\n" + data.logTail());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void requireUnused(int port) throws IOException {
        var live = data.liveServer();
        if (live.isPresent()) {
            throw new EmbeddedPostgresException(
                    Reason.DATA_DIRECTORY_IN_USE,
                    "A server already runs on " + data.path() + ", process "
                            + live.get().pid() + "; stop it or use another directory");
        }
        if (!Ports.isFree(port)) {
            throw new EmbeddedPostgresException(
                    Reason.PORT_IN_USE, "Port " + port + " of 127.0.0.1 is in use; choose another or leave it open");
        }
    }

    private Postmaster launch() throws IOException {
        if (Platform.isWindows()) {
            return PgCtlPostmaster.start(binaries, data);
        }
        if (!Files.exists(data.log())) {
            Files.createFile(data.log());
            runAs.own(data.log());
        }
        return SupervisedPostmaster.start(binaries, data, runAs);
    }

    private void awaitReady(Postmaster postmaster, int port) throws IOException {
        long deadline = System.nanoTime() + READY.toNanos();
        while (!isReady(postmaster)) {
            if (postmaster.awaitExit(POLL)) {
                requireUnused(port);
                throw failed("PostgreSQL did not start", data);
            }
            if (System.nanoTime() > deadline) {
                throw failed("PostgreSQL was not ready after " + READY.toSeconds() + " s", data);
            }
        }
    }

    private boolean isReady(Postmaster postmaster) throws IOException {
        return PidFile.read(data.path())
                .filter(file -> file.pid() == postmaster.pid())
                .filter(PidFile::acceptsConnections)
                .isPresent();
    }

    private Map<String, String> settingsFor(int port) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("fsync", "on");
        all.put("synchronous_commit", "on");
        all.put("full_page_writes", "on");
        all.putAll(settings);
        all.put("listen_addresses", "127.0.0.1");
        all.put("port", Integer.toString(port));
        all.put("unix_socket_directories", "");
        return all;
    }
}
