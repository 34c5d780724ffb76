package dev.hapax.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedRedisTest {
    @TempDir
    Path temporary;

    @Test
    void killedJvmLeavesNeitherServerNorDirectory() throws Exception {
        Process jvm = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-Djava.io.tmpdir=" + temporary,
                        "-cp",
                        System.getProperty("java.class.path"),
                        RedisInChildJvm.class.getName()))
                .start();
        try {
            int port = Integer.parseInt(jvm.inputReader().readLine());
            assertThat(EmbeddedRedis.answers(port)).isTrue();
            assertThat(temporaryFiles()).isNotEmpty();

            jvm.destroyForcibly();

            await().atMost(Duration.ofSeconds(20)).until(() -> !EmbeddedRedis.answers(port));
            await().atMost(Duration.ofSeconds(20)).until(() -> temporaryFiles().isEmpty());
        } finally {
            jvm.destroyForcibly();
        }
    }

    @Test
    void closedServerAnswersNoMore() throws Exception {
        EmbeddedRedis redis = EmbeddedRedis.start();
        assertThat(EmbeddedRedis.answers(redis.port())).isTrue();

        redis.close();

        assertThat(EmbeddedRedis.answers(redis.port())).isFalse();
    }

    private List<Path> temporaryFiles() throws IOException {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.filter(file -> file.getFileName().toString().startsWith("hapax-redis"))
                    .toList();
        }
    }
}
