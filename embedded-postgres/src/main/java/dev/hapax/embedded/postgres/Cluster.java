package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first content of a data directory: what {@code initdb} makes, and a random password.
 *
 * <p>Since {@code initdb} takes a second, temporary directories are copied from a template beside the cached binaries,
 * and so share a password and PostgreSQL's system identifier.
 */
record Cluster(Binaries binaries, RunAs runAs) {

    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
    private static final List<String> OPTIONS =
            List.of("--username=" + DataDirectory.USER, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C");

    void create(DataDirectory data) throws IOException {
        Files.createDirectories(data.path());
        if (!data.temporary() || !binaries.cached() || !copyTemplate(data.path())) {
            initialise(data.path());
        }
    }

    private boolean copyTemplate(Path directory) throws IOException {
        Path template = template();
        try {
            PreparedOnce.prepare(template, this::initialise);
        } catch (IOException e) {
            LOG.debug("No template in {}", template, e);
            return false;
        }
        Trees.copy(template, directory);
        runAs.own(directory);
        return true;
    }

    /** One for each user and each set of options, so that a later release does not take an earlier one's template. */
    private Path template() {
        String options = Integer.toHexString(OPTIONS.hashCode());
        String owner = runAs.owner().isPresent() ? "-" + runAs.owner().getAsInt() : "";
        return binaries.home().resolveSibling(binaries.home().getFileName() + "-template-" + options + owner);
    }

    private void initialise(Path directory) throws IOException {
        runAs.own(directory);
        String password = randomPassword();
        Path passwordFile = Files.createTempFile("hapax", ".password");
        try {
            Files.writeString(passwordFile, password);
            runAs.own(passwordFile);
            initdb(directory, passwordFile);
        } finally {
            Files.delete(passwordFile);
        }
        String include = "\ninclude '" + DataDirectory.SETTINGS + "'\n";
        Files.writeString(directory.resolve("postgresql.conf"), include, StandardOpenOption.APPEND);
        DataDirectory.writePrivately(directory.resolve(DataDirectory.PASSWORD), password, runAs);
    }

    private void initdb(Path directory, Path passwordFile) throws IOException {
        List<String> command =
                List.of(binaries.executable("initdb"), "--pgdata=" + directory, "--pwfile=" + passwordFile);
        Commands.Result result = Commands.run(runAs.command(Commands.join(command, OPTIONS)));
        if (!result.succeeded()) {
            throw new EmbeddedPostgresException(
                    Reason.SERVER_FAILED, "initdb failed in " + directory + ":\n" + result.output());
        }
    }

    private static String randomPassword() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
