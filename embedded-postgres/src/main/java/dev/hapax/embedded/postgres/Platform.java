package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.util.Locale;
import java.util.Set;

/** An operating system and processor for which binaries exist, in the words of the binaries' file names. */
record Platform(String os, String arch) {

    private static final Set<String> SUPPORTED =
            Set.of("linux-x86_64", "linux-arm_64", "darwin-x86_64", "darwin-arm_64", "windows-x86_64");

    Platform {
        if (!SUPPORTED.contains(os + "-" + arch)) {
            throw new EmbeddedPostgresException(
                    Reason.UNSUPPORTED_PLATFORM,
                    "No embedded PostgreSQL for " + os + " on " + arch
                            + "; install PostgreSQL and pass its directory to binaries(Path), or run on one of "
                            + SUPPORTED.stream().sorted().toList());
        }
    }

    static Platform current() {
        return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    }

    static Platform of(String osName, String osArch) {
        return new Platform(os(osName.toLowerCase(Locale.ROOT)), arch(osArch.toLowerCase(Locale.ROOT)));
    }

    static boolean isWindows() {
        return os(System.getProperty("os.name", "").toLowerCase(Locale.ROOT)).equals("windows");
    }

    String archiveName() {
        return "postgres-" + os + "-" + arch + ".txz";
    }

    private static String os(String name) {
        if (name.startsWith("mac") || name.startsWith("darwin")) {
            return "darwin";
        }
        return name.startsWith("windows") ? "windows" : name;
    }

    private static String arch(String name) {
        return switch (name) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> "arm_64";
            default -> name;
        };
    }
}
