package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An unpacked PostgreSQL installation, in our cache or elsewhere. */
record Binaries(Path home, int majorVersion, boolean cached) {

    private static final Pattern VERSION = Pattern.compile("\\(PostgreSQL\\) (\\d+)");

    static Binaries in(Path home, boolean cached) {
        Path absolute = home.toAbsolutePath();
        Path postgres = executable(absolute, "postgres");
        if (!Files.isExecutable(postgres)) {
            throw new EmbeddedPostgresException(
                    Reason.BINARIES_MISSING, "No PostgreSQL installation in " + home + ": it has no bin/postgres");
        }
        return new Binaries(absolute, majorVersion(postgres), cached);
    }

    String executable(String name) {
        return executable(home, name).toString();
    }

    private static int majorVersion(Path postgres) {
        try {
            Commands.Result result = Commands.run(List.of(postgres.toString(), "--version"));
            Matcher version = VERSION.matcher(result.output());
            if (result.succeeded() && version.find()) {
                return Integer.parseInt(version.group(1));
            }
            throw new IOException(result.output());
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    Reason.UNSUPPORTED_PLATFORM,
                    postgres + " does not run on this system; install PostgreSQL and pass its directory to"
                            + " binaries(Path): " + e.getMessage(),
                    e);
        }
    }

    private static Path executable(Path home, String name) {
        return home.resolve("bin").resolve(Platform.isWindows() ? name + ".exe" : name);
    }
}
