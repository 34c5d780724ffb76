package dev.hapax.embedded.postgres;

import static dev.hapax.embedded.postgres.Queries.execute;
import static dev.hapax.embedded.postgres.Queries.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedPostgresTest {

    /** Computes without ever waiting, so the session does not notice that the server's first process is gone. */
    private static final String ENDLESS = "SELECT count(*) FROM generate_series(1, 1e12)";

    private static final String COUNT_BUSY =
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%1e12)' AND state = 'active'";

    @TempDir
    Path scratch;

    @Test
    void startedServerAnswersQueries() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            assertThat(query(server, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void closedServerIsGone() throws Exception {
        EmbeddedPostgres server = EmbeddedPostgres.start();
        server.close();
        server.close();

        assertThat(ProcessHandle.of(server.pid())).isEmpty();
        assertThatThrownBy(() -> query(server, "SELECT 1")).isInstanceOf(SQLException.class);
        assertThatThrownBy(server::restart).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void interruptedThreadStillStopsTheServer() {
        EmbeddedPostgres server = EmbeddedPostgres.start();
        Thread.currentThread().interrupt();
        server.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(server.isRunning()).isFalse();
        assertThat(server.dataDirectory()).doesNotExist();
    }

    @Test
    void temporaryDataDirectoryIsRemovedOnClose() {
        EmbeddedPostgres server = EmbeddedPostgres.start();
        assertThat(server.dataDirectory()).isDirectory();
        server.close();

        assertThat(server.dataDirectory()).doesNotExist();
    }

    @Test
    void persistentDataDirectorySurvivesClose() throws Exception {
        Path data = scratch.resolve("not/there/yet");
        try (EmbeddedPostgres first =
                EmbeddedPostgres.builder().dataDirectory(data).start()) {
            execute(first, "CREATE TABLE kept AS SELECT 42 AS answer");
        }
        try (EmbeddedPostgres second =
                EmbeddedPostgres.builder().dataDirectory(data).start()) {
            assertThat(query(second, "SELECT answer FROM kept")).isEqualTo("42");
            assertThat(second.dataDirectory()).isEqualTo(data.toAbsolutePath());
        }
    }

    @Test
    void killedServerComesBackWithAllThatWasCommitted() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            execute(server, "CREATE TABLE kept AS SELECT 42 AS answer");
            long killed = server.pid();
            int port = server.port();
            List<ProcessHandle> tree =
                    ProcessHandle.of(killed).orElseThrow().descendants().toList();
            server.kill();

            assertThat(server.isRunning()).isFalse();
            assertThat(tree)
                    .isNotEmpty()
                    .allMatch(process -> process.info().command().isEmpty());
            assertThatThrownBy(() -> query(server, "SELECT 1")).isInstanceOf(SQLException.class);

            server.restart();
            assertThat(query(server, "SELECT answer FROM kept")).isEqualTo("42");
            assertThat(server.port()).isEqualTo(port);
            assertThat(server.pid()).isNotEqualTo(killed);
        }
    }

    @Test
    void killTakesBusySessionsToo() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            CompletableFuture<Void> busy =
                    CompletableFuture.runAsync(() -> assertThatThrownBy(() -> query(server, ENDLESS)));
            await().until(() -> query(server, COUNT_BUSY).equals("1"));
            server.kill();
            server.restart();

            assertThat(query(server, COUNT_BUSY)).isEqualTo("0");
            busy.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void runningServerRestartsOnTheSameDataAndPort() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            execute(server, "CREATE TABLE kept AS SELECT 42 AS answer");
            String url = server.jdbcUrl();
            long before = server.pid();
            server.restart();

            assertThat(query(url, "SELECT answer FROM kept")).isEqualTo("42");
            assertThat(server.pid()).isNotEqualTo(before);
        }
    }

    @Test
    void suspendedServerDoesNotAnswerUntilItIsResumed() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            server.suspend();
            String impatient = server.jdbcUrl() + "&socketTimeout=1&loginTimeout=1";
            assertThatThrownBy(() -> query(impatient, "SELECT 1")).isInstanceOf(SQLException.class);

            server.resume();
            assertThat(query(server, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void everyProcessOfASuspendedServerIsStopped() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            server.suspend();
            ProcessHandle postmaster = ProcessHandle.of(server.pid()).orElseThrow();
            String pids = Stream.concat(Stream.of(postmaster), postmaster.descendants())
                    .map(process -> Long.toString(process.pid()))
                    .collect(Collectors.joining(","));
            Commands.Result states = Commands.run(List.of("ps", "-o", "stat=", "-p", pids));

            assertThat(states.output().lines()).hasSizeGreaterThan(3).allMatch(state -> state.startsWith("T"));
        }
    }

    @Test
    void openSessionOfASuspendedServerIsFrozenToo() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start();
                var session = DriverManager.getConnection(server.jdbcUrl() + "&socketTimeout=1");
                var statement = session.createStatement()) {
            statement.execute("SELECT 1");
            server.suspend();

            assertThatThrownBy(() -> statement.execute("SELECT 1")).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void commitsAreDurable() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            for (String setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
                assertThat(query(server, "SHOW " + setting)).as(setting).isEqualTo("on");
            }
        }
    }

    @Test
    void listensOnLoopbackOnly() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            assertThat(query(server, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
            assertThat(query(server, "SHOW unix_socket_directories")).isEmpty();
        }
    }

    @Test
    void wrongPasswordIsRefused() {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            String url = server.jdbcUrl().replace(server.password(), "guess");
            assertThatThrownBy(() -> query(url, "SELECT 1"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("28P01"));
        }
    }

    @Test
    void passwordFileIsPrivate() throws Exception {
        try (EmbeddedPostgres server =
                EmbeddedPostgres.builder().dataDirectory(scratch).start()) {
            Path file = server.dataDirectory().resolve(DataDirectory.PASSWORD);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void databasesAreUtf8InTheCLocale() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            execute(server, "CREATE DATABASE \"other one\"");
            String url = server.jdbcUrl("other one");
            assertThat(query(url, "SHOW server_encoding")).isEqualTo("UTF8");
            assertThat(query(url, "SELECT datcollate FROM pg_database WHERE datname = current_database()"))
                    .isEqualTo("C");
        }
    }

    @Test
    void settingsReachTheServerAsWritten() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setting("max_connections", "37")
                .setting("cluster_name", "it's \\new")
                .start()) {
            assertThat(query(server, "SHOW max_connections")).isEqualTo("37");
            assertThat(query(server, "SHOW cluster_name")).isEqualTo("it's \\new");
        }
    }

    @Test
    void settingsThatTheServerOwnsAreRefused() {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
        for (String name : List.of("port", "listen_addresses", "Port", "include 'x'")) {
            assertThatThrownBy(() -> builder.setting(name, "1")).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> builder.setting("cluster_name", "a\nfsync = off"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void twoServersRunSideBySide() throws Exception {
        try (EmbeddedPostgres one = EmbeddedPostgres.start();
                EmbeddedPostgres other = EmbeddedPostgres.start()) {
            execute(one, "CREATE TABLE only_here (id int)");

            assertThat(one.port()).isNotEqualTo(other.port());
            assertThat(query(other, "SELECT to_regclass('only_here')")).isNull();
        }
    }
}
