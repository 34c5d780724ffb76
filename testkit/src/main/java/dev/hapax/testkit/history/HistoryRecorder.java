package dev.hapax.testkit.history;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes what one process sees to a file of its own, one line an event.
 *
 * <p>Every event is handed to the operating system before {@link #record} returns, so a SIGKILL loses nothing that was
 * recorded and tears at most the line being written. Thread-safe. A write that fails throws
 * {@link UncheckedIOException}: a test must not go on with half a history.
 */
public final class HistoryRecorder implements AutoCloseable {

    // Not a FileChannel: an interrupted handler's thread would close it for all the others.
    private final FileOutputStream out;

    private HistoryRecorder(FileOutputStream out) {
        this.out = out;
    }

    /**
     * Opens a recorder on a new file.
     *
     * @throws IOException if the file exists or cannot be made
     */
    public static HistoryRecorder create(Path file) throws IOException {
        Files.createFile(file);
        return new HistoryRecorder(new FileOutputStream(file.toFile()));
    }

    public void record(Event event) {
        byte[] line = (EventLines.write(event) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (out) {
            try {
                out.write(line);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
