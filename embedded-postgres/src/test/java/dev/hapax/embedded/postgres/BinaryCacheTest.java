package dev.hapax.embedded.postgres;

import static dev.hapax.embedded.postgres.Queries.query;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.JarURLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinaryCacheTest {

    @TempDir
    Path cache;

    @Test
    void archiveThatIsUnpackedTwiceAtOnceIsThereOnceAndWhole() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(2);
        try {
            List<Future<Binaries>> unpackings = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                unpackings.add(executor.submit(() -> new BinaryCache(cache).unpacked(Archive.onClassPath())));
            }
            for (Future<Binaries> unpacking : unpackings) {
                assertThat(unpacking.get().majorVersion()).isEqualTo(18);
            }
        } finally {
            executor.shutdownNow();
        }
        assertThat(entries()).hasSize(1);
    }

    @Test
    void jarArchiveAndDirectoryAreAllBinaries() throws Exception {
        var resource = (JarURLConnection) Archive.class
                .getResource("/" + Platform.current().archiveName())
                .openConnection();
        Path jar = Path.of(resource.getJarFileURL().toURI());
        Path archive = cache.resolve("postgres.txz");
        try (var in = resource.getInputStream()) {
            Files.copy(in, archive);
        }

        Binaries unpacked = new BinaryCache(cache).unpacked(Archive.in(jar));
        assertThat(new BinaryCache(cache).unpacked(Archive.in(archive))).isEqualTo(unpacked);
        try (EmbeddedPostgres server =
                EmbeddedPostgres.builder().binaries(unpacked.home()).start()) {
            assertThat(query(server, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void directoryThatWasNotFinishedIsNeverSeen() throws Exception {
        Path target = cache.resolve("target");
        try {
            PreparedOnce.prepare(target, directory -> {
                Files.createFile(directory.resolve("half"));
                throw new IOException("disk full");
            });
        } catch (IOException expected) {
            assertThat(expected).hasMessage("disk full");
        }

        assertThat(entries()).isEmpty();
    }

    @Test
    void leftoverOfAKilledProcessIsRemoved() throws Exception {
        Path leftover = Files.createDirectory(cache.resolve(".preparing-1"));
        Path fresh = Files.createDirectory(cache.resolve(".preparing-2"));
        Files.setLastModifiedTime(leftover, FileTime.fromMillis(0));
        PreparedOnce.prepare(cache.resolve("target"), directory -> {});

        assertThat(leftover).doesNotExist();
        assertThat(fresh).exists();
    }

    @Test
    void cacheFollowsTheHabitsOfTheSystem() {
        Path home = Path.of("/home/jo");
        assertThat(BinaryCache.preferred("Linux", "jo", home, Map.of())).isEqualTo(Path.of("/home/jo/.cache/hapax"));
        assertThat(BinaryCache.preferred("Linux", "jo", home, Map.of("XDG_CACHE_HOME", "/x")))
                .isEqualTo(Path.of("/x/hapax"));
        assertThat(BinaryCache.preferred("Linux", "root", home, Map.of())).isEqualTo(Path.of("/var/cache/hapax"));
        assertThat(BinaryCache.preferred("Mac OS X", "jo", home, Map.of()))
                .isEqualTo(Path.of("/home/jo/Library/Caches/hapax"));
    }

    private List<Path> entries() throws Exception {
        try (Stream<Path> entries = Files.list(cache)) {
            return entries.toList();
        }
    }
}
