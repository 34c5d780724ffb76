package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A server's data directory, with the three files of ours in it: the password, the settings and the server's log.
 *
 * <p>The password file is written last, so a directory without it was made by someone else or not finished.
 */
record DataDirectory(Path path, boolean temporary) {

    static final String USER = "postgres";

    static final String PASSWORD = "hapax.password";
    static final String SETTINGS = "hapax.conf";
    private static final String LOG = "server.log";
    private static final int LOG_TAIL_LINES = 20;

    static DataDirectory inTemporaryDirectory() throws IOException {
        return new DataDirectory(Files.createTempDirectory("hapax-postgres-").toAbsolutePath(), true);
    }

    static DataDirectory at(Path path) {
        return new DataDirectory(path.toAbsolutePath(), false);
    }

    void prepare(Binaries binaries, RunAs runAs) throws IOException {
        if (Trees.isMissingOrEmpty(path)) {
            new Cluster(binaries, runAs).create(this);
        } else {
            check(binaries);
            runAs.own(path);
        }
    }

    /** The settings live in a file of their own, below {@code ALTER SYSTEM} and above what initdb wrote. */
    void writeSettings(Map<String, String> settings, RunAs runAs) throws IOException {
        StringBuilder text = new StringBuilder();
        settings.forEach((name, value) ->
                text.append(name).append(" = '").append(quote(value)).append("'\n"));
        writePrivately(path.resolve(SETTINGS), text.toString(), runAs);
    }

    String password() throws IOException {
        return Files.readString(path.resolve(PASSWORD)).strip();
    }

    Path log() {
        return path.resolve(LOG);
    }

    String logTail() throws IOException {
        if (!Files.exists(log())) {
            return "";
        }
        List<String> lines = Files.readAllLines(log());
        return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size()));
    }

    Optional<PidFile> liveServer() throws IOException {
        return PidFile.read(path).filter(PidFile::isServer);
    }

    /**
     * Removes the file of a dead server whose process id meanwhile belongs to another program, which PostgreSQL would
     * take for the server. All other cases are left to PostgreSQL, which also looks for sessions that are still alive.
     */
    void forgetReplacedServer() throws IOException {
        if (PidFile.read(path).filter(PidFile::isOtherProgram).isPresent()) {
            Files.deleteIfExists(path.resolve(PidFile.NAME));
        }
    }

    private void check(Binaries binaries) throws IOException {
        Path version = path.resolve("PG_VERSION");
        if (!Files.isRegularFile(version) || !Files.isRegularFile(path.resolve(PASSWORD))) {
            throw new EmbeddedPostgresException(
                    Reason.DATA_DIRECTORY_UNUSABLE,
                    path + " is neither empty nor a data directory made here; choose another or empty it");
        }
        String found = Files.readString(version).strip();
        if (!found.equals(Integer.toString(binaries.majorVersion()))) {
            throw new EmbeddedPostgresException(
                    Reason.DATA_DIRECTORY_OF_OTHER_VERSION,
                    path + " belongs to PostgreSQL " + found + ", the binaries are of " + binaries.majorVersion()
                            + "; use the binaries of " + found + " or another directory");
        }
    }

    static void writePrivately(Path file, String text, RunAs runAs) throws IOException {
        if (!Platform.isWindows() && !Files.exists(file)) {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        Files.writeString(file, text);
        runAs.own(file);
    }

    private static String quote(String value) {
        return value.replace("\\", "\\\\").replace("'", "''");
    }
}
