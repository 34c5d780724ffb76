package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory where each archive is unpacked once, under the hash of its content. Safe for many processes at once.
 */
record BinaryCache(Path root) {

    private static final Logger LOG = LoggerFactory.getLogger(BinaryCache.class);

    /**
     * The cache of this user. Root's own lies outside its home, because the server that root starts may be a user that
     * cannot enter there.
     */
    static BinaryCache ofCurrentUser() throws IOException {
        Path preferred = preferred(
                System.getProperty("os.name", ""),
                System.getProperty("user.name", ""),
                Path.of(System.getProperty("user.home", "")),
                System.getenv());
        try {
            Files.createDirectories(preferred);
            if (Files.isWritable(preferred)) {
                return new BinaryCache(preferred);
            }
        } catch (IOException e) {
            LOG.debug("No cache in {}", preferred, e);
        }
        return inTemporaryDirectory();
    }

    Binaries unpacked(Archive archive) throws IOException {
        Path home = root.resolve("postgres-" + archive.sha256().substring(0, 32));
        PreparedOnce.prepare(home, directory -> {
            LOG.info("Unpacking {} to {}", archive, home);
            archive.unpack(directory);
            makeReadable(directory);
        });
        return Binaries.in(home, true);
    }

    static Path preferred(String osName, String user, Path home, Map<String, String> environment) {
        if (osName.startsWith("Windows")) {
            String local = environment.get("LOCALAPPDATA");
            return (local == null ? home : Path.of(local)).resolve("hapax");
        }
        if (osName.startsWith("Mac")) {
            return home.resolve("Library/Caches/hapax");
        }
        if (user.equals("root")) {
            return Path.of("/var/cache/hapax");
        }
        String xdg = environment.get("XDG_CACHE_HOME");
        return (xdg == null || xdg.isBlank() ? home.resolve(".cache") : Path.of(xdg)).resolve("hapax");
    }

    /** The name can be guessed there, so a directory that someone else laid out must not be trusted. */
    private static BinaryCache inTemporaryDirectory() throws IOException {
        Path probe = Files.createTempFile("hapax", null);
        var me = Files.getOwner(probe);
        Files.delete(probe);
        Path cache = probe.resolveSibling("hapax-cache-" + me.getName());
        Files.createDirectories(cache);
        if (Files.isSymbolicLink(cache) || !Files.getOwner(cache).equals(me)) {
            throw new EmbeddedPostgresException(
                    Reason.BINARIES_MISSING, cache + " belongs to another user; pass a cacheDirectory(Path)");
        }
        makeReadable(cache);
        return new BinaryCache(cache);
    }

    private static void makeReadable(Path directory) throws IOException {
        if (!Platform.isWindows()) {
            Set<PosixFilePermission> readable = PosixFilePermissions.fromString("rwxr-xr-x");
            Files.setPosixFilePermissions(directory, readable);
        }
    }
}
