package dev.hapax.embedded.postgres;

import static dev.hapax.embedded.postgres.Queries.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RefusedStartTest {

    @TempDir
    Path scratch;

    @Test
    void dataDirectoryWithALiveServerIsRefused() throws Exception {
        try (EmbeddedPostgres live = onScratch().start()) {
            EmbeddedPostgresException refusal = refusalOf(onScratch());

            assertThat(refusal.reason()).isEqualTo(Reason.DATA_DIRECTORY_IN_USE);
            assertThat(refusal).hasMessageContaining(Long.toString(live.pid()));
            assertThat(query(live, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void busyPortIsRefused() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            EmbeddedPostgresException refusal =
                    refusalOf(EmbeddedPostgres.builder().port(other.getLocalPort()));

            assertThat(refusal.reason()).isEqualTo(Reason.PORT_IN_USE);
            assertThat(refusal).hasMessageContaining(Integer.toString(other.getLocalPort()));
        }
    }

    @Test
    void directoryOfSomethingElseIsRefusedAndLeftAlone() throws Exception {
        Path letter = Files.writeString(scratch.resolve("letter.txt"), "dear");

        assertThat(refusalOf(onScratch()).reason()).isEqualTo(Reason.DATA_DIRECTORY_UNUSABLE);
        assertThat(letter).hasContent("dear");
        assertThat(scratch).isDirectoryContaining(path -> path.equals(letter));
    }

    @Test
    void fileInPlaceOfADataDirectoryIsRefused() throws Exception {
        Path file = Files.createFile(scratch.resolve("file"));

        assertThat(refusalOf(EmbeddedPostgres.builder().dataDirectory(file)).reason())
                .isEqualTo(Reason.DATA_DIRECTORY_UNUSABLE);
    }

    @Test
    void unfinishedInitialisationIsRefused() throws Exception {
        onScratch().start().close();
        Files.delete(scratch.resolve(DataDirectory.PASSWORD));

        assertThat(refusalOf(onScratch()).reason()).isEqualTo(Reason.DATA_DIRECTORY_UNUSABLE);
    }

    @Test
    void dataDirectoryOfAnotherMajorVersionIsRefused() throws Exception {
        onScratch().start().close();
        Files.writeString(scratch.resolve("PG_VERSION"), "13\n");
        EmbeddedPostgresException refusal = refusalOf(onScratch());

        assertThat(refusal.reason()).isEqualTo(Reason.DATA_DIRECTORY_OF_OTHER_VERSION);
        assertThat(refusal).hasMessageContaining("PostgreSQL 13");
    }

    @Test
    void processIdOfADeadServerThatNowIsAnotherProgramDoesNotStopAStart() throws Exception {
        onScratch().start().close();
        Files.writeString(
                scratch.resolve(PidFile.NAME), ProcessHandle.current().pid() + "\n" + scratch + "\n1\n1\n\n\n1 1\n");

        try (EmbeddedPostgres server = onScratch().start()) {
            assertThat(query(server, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void failedStartTellsTheEndOfTheServersLog() {
        EmbeddedPostgresException refusal = refusalOf(EmbeddedPostgres.builder().setting("max_connections", "many"));

        assertThat(refusal.reason()).isEqualTo(Reason.SERVER_FAILED);
        assertThat(refusal).hasMessageContaining("invalid value for parameter \"max_connections\"");
    }

    @Test
    void failedStartLeavesNoTemporaryDirectory() throws Exception {
        EmbeddedPostgresException refusal = refusalOf(EmbeddedPostgres.builder().setting("max_connections", "many"));
        Path log = Stream.of(refusal.getMessage().split("[ :]"))
                .filter(word -> word.endsWith("server.log"))
                .map(Path::of)
                .findFirst()
                .orElseThrow();

        assertThat(log.getParent()).doesNotExist();
    }

    @Test
    void pathWithoutBinariesIsRefused() {
        assertThat(refusalOf(EmbeddedPostgres.builder().binaries(scratch)).reason())
                .isEqualTo(Reason.BINARIES_MISSING);
    }

    private EmbeddedPostgres.Builder onScratch() {
        return EmbeddedPostgres.builder().dataDirectory(scratch);
    }

    private static EmbeddedPostgresException refusalOf(EmbeddedPostgres.Builder builder) {
        return catchThrowableOfType(
                EmbeddedPostgresException.class, () -> builder.start().close());
    }
}
