package dev.hapax.embedded.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every way for root to start a server, also those that are only taken where the first is forbidden. */
class RunAsTest {

    @BeforeEach
    void onlyRootNeedsThem() throws Exception {
        assumeTrue(Commands.run(List.of("id", "-u")).output().equals("0"), "not root");
    }

    static Stream<RunAs> waysForRoot() {
        return Stream.of(RunAs.userNamespace(), RunAs.setpriv(65534), RunAs.runuser());
    }

    @ParameterizedTest
    @MethodSource("waysForRoot")
    void rootStartsServersThatAreNotRoot(RunAs way) throws Exception {
        Binaries binaries = BinaryCache.ofCurrentUser().unpacked(Archive.onClassPath());
        DataDirectory data = DataDirectory.inTemporaryDirectory();
        try {
            data.prepare(binaries, way);
            Postmaster postmaster = new ServerStart(binaries, data, way, Map.of()).on(Ports.anyFree());
            postmaster.requestStop(Postmaster.StopMode.FAST);
            assertThat(postmaster.awaitExit(Duration.ofSeconds(20))).isTrue();
        } finally {
            Trees.delete(data.path());
        }
    }

    @ParameterizedTest
    @MethodSource("waysForRoot")
    void directoryOfAnyWayStartsAgain(RunAs way) throws Exception {
        Path directory = Files.createTempDirectory("hapax-run-as-");
        try {
            DataDirectory.at(directory).prepare(BinaryCache.ofCurrentUser().unpacked(Archive.onClassPath()), way);
            try (EmbeddedPostgres server =
                    EmbeddedPostgres.builder().dataDirectory(directory).start()) {
                assertThat(Queries.query(server, "SELECT 1")).isEqualTo("1");
            }
        } finally {
            Trees.delete(directory);
        }
    }
}
