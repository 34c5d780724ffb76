package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Short-lived child processes, run to their end. */
final class Commands {

    record Result(int exitCode, String output) {

        boolean succeeded() {
            return exitCode == 0;
        }
    }

    private Commands() {}

    static Result run(List<String> command) throws IOException {
        Process process = builder(command).redirectErrorStream(true).start();
        try {
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), output.strip());
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw interrupted(e);
        }
    }

    static ProcessBuilder builder(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        cleanse(builder.environment());
        return builder;
    }

    static List<String> join(List<String> prefix, List<String> command) {
        List<String> all = new ArrayList<>(prefix);
        all.addAll(command);
        return List.copyOf(all);
    }

    static EmbeddedPostgresException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new EmbeddedPostgresException(Reason.INTERRUPTED, "Interrupted while waiting for PostgreSQL", cause);
    }

    /** The variables of the caller's own PostgreSQL work would change which server is made and how it speaks. */
    private static void cleanse(Map<String, String> environment) {
        environment.keySet().removeIf(name -> name.startsWith("PG") || name.startsWith("LC_"));
        environment.put("LC_ALL", "C");
    }
}
