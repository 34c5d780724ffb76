package dev.hapax.examples;

import dev.hapax.gateway.StartException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The directory of a demo, which no other demo uses as long as this one is open. */
final class DemoData implements AutoCloseable {
    private final Path directory;
    private final FileChannel lock;

    private DemoData(Path directory, FileChannel lock) {
        this.directory = directory;
        this.lock = lock;
    }

    /** The usual directory; when another demo uses that one, one that belongs to the port. */
    static DemoData open(Path root, int port) {
        Path usual = root.resolve("demo");
        Path own = root.resolve("demo-" + port);
        try {
            return tryOpen(usual)
                    .or(() -> tryOpen(own))
                    .orElseThrow(() -> new StartException(
                            "other demos already use the data in %s and %s; stop one, or choose another directory with --data"
                                    .formatted(usual, own),
                            null));
        } catch (UncheckedIOException e) {
            throw new StartException("the demo cannot keep its data in " + root + ": " + e.getMessage(), e);
        }
    }

    /** As short as the user would write it. */
    String shown() {
        Path here = Path.of("").toAbsolutePath();
        Path absolute = directory.toAbsolutePath().normalize();
        return (absolute.startsWith(here) ? here.relativize(absolute) : absolute).toString();
    }

    Path postgres() {
        return directory.resolve("postgres");
    }

    /** What the payments API has executed. */
    Path executed() {
        return directory.resolve("executed.jsonl");
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<DemoData> tryOpen(Path directory) {
        try {
            Files.createDirectories(directory);
            FileChannel channel =
                    FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            @Nullable FileLock lock = tryLock(channel);
            if (lock == null) {
                channel.close();
                return Optional.empty();
            }
            return Optional.of(new DemoData(directory, channel));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException byThisProcess) {
            return null;
        }
    }
}
