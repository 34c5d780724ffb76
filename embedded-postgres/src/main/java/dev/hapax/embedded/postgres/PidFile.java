package dev.hapax.embedded.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What a running server tells in its {@code postmaster.pid}. */
record PidFile(long pid, String status) {

    static final String NAME = "postmaster.pid";

    private static final int STATUS_LINE = 7;

    /** Reads the file, which may be missing, or half written by the server at this moment. */
    static Optional<PidFile> read(Path dataDirectory) throws IOException {
        try {
            return parse(Files.readAllLines(dataDirectory.resolve(NAME), StandardCharsets.ISO_8859_1));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    static Optional<PidFile> parse(List<String> lines) {
        if (lines.isEmpty() || !lines.get(0).strip().matches("\\d{1,18}")) {
            return Optional.empty();
        }
        String status = lines.size() > STATUS_LINE ? lines.get(STATUS_LINE).strip() : "";
        return Optional.of(new PidFile(Long.parseLong(lines.get(0).strip()), status));
    }

    boolean acceptsConnections() {
        return status.equals("ready") || status.equals("standby");
    }

    /** Whether the process is alive and, as far as can be seen, a server. */
    boolean isServer() {
        return ProcessHandle.of(pid).isPresent() && !isOtherProgram();
    }

    /** Whether the process id has passed to another program, as happens after a crash. */
    boolean isOtherProgram() {
        return ProcessHandle.of(pid)
                .flatMap(process -> process.info().command())
                .map(command -> !Path.of(command).getFileName().toString().startsWith("postgres"))
                .orElse(false);
    }
}
