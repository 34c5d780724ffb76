package dev.hapax.embedded.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory that is made once and never changed.
 *
 * <p>Safe for many processes at once: each fills a directory aside and renames it, the first one wins, the others drop
 * theirs. What a killed process left aside is removed after an hour.
 */
final class PreparedOnce {

    interface Filler {

        void fill(Path directory) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(PreparedOnce.class);
    private static final String ASIDE = ".preparing-";
    private static final Duration ABANDONED = Duration.ofHours(1);

    private PreparedOnce() {}

    static void prepare(Path directory, Filler filler) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        Path parent = Files.createDirectories(directory.getParent());
        removeAbandoned(parent);
        Path aside = Files.createTempDirectory(parent, ASIDE);
        try {
            filler.fill(aside);
            move(aside, directory);
        } finally {
            if (Files.exists(aside)) {
                Trees.delete(aside);
            }
        }
    }

    private static void move(Path aside, Path directory) throws IOException {
        try {
            Files.move(aside, directory, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            if (!Files.isDirectory(directory)) {
                throw e;
            }
            LOG.debug("Another process made {} first", directory);
        }
    }

    private static void removeAbandoned(Path parent) throws IOException {
        Instant limit = Instant.now().minus(ABANDONED);
        try (var asides = Files.newDirectoryStream(parent, ASIDE + "*")) {
            for (Path aside : asides) {
                if (Files.getLastModifiedTime(aside).toInstant().isBefore(limit)) {
                    Trees.delete(aside);
                }
            }
        }
    }
}
