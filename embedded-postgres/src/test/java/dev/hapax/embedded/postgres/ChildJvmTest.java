package dev.hapax.embedded.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only another process can show: a JVM that is killed, and one that runs as an ordinary user. */
class ChildJvmTest {

    private static final int NOBODY = 65534;

    @TempDir
    Path scratch;

    @BeforeEach
    void letOrdinaryUsersIn() throws IOException {
        Files.setPosixFilePermissions(scratch, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    @Test
    void killedJvmLeavesNeitherServerNorTemporaryDirectory() throws Exception {
        Process jvm = startJvm(List.of(), classPath());
        try {
            Properties told = readReport(jvm);
            jvm.destroyForcibly();

            await().atMost(Duration.ofSeconds(60)).until(() -> isGone(told));
            await().atMost(Duration.ofSeconds(60)).until(() -> !Files.exists(Path.of(told.getProperty("data"))));
        } finally {
            jvm.destroyForcibly();
        }
    }

    @Test
    void killedJvmLeavesNoSuspendedServer() throws Exception {
        Process jvm = startJvm(List.of(), classPath());
        try {
            Properties told = readReport(jvm);
            Signals.suspend(Long.parseLong(told.getProperty("pid")));
            jvm.destroyForcibly();

            await().atMost(Duration.ofSeconds(60)).until(() -> isGone(told));
        } finally {
            jvm.destroyForcibly();
        }
    }

    @Test
    void persistentDirectoryOfAKilledJvmStartsAgain() throws Exception {
        Path data = scratch.resolve("data");
        Process jvm = startJvm(List.of(), classPath(), "data=" + data);
        try {
            Properties told = readReport(jvm);
            jvm.destroyForcibly();
            await().atMost(Duration.ofSeconds(60)).until(() -> isGone(told));
        } finally {
            jvm.destroyForcibly();
        }
        try (EmbeddedPostgres server =
                EmbeddedPostgres.builder().dataDirectory(data).start()) {
            assertThat(Queries.query(server, "SELECT 1")).isEqualTo("1");
        }
    }

    @Test
    void runsAsAnOrdinaryUser() throws Exception {
        assumeTrue(isRoot(), "only root can become another user; as an ordinary user every other test shows this");
        Process jvm =
                startJvm(RunAs.setpriv(NOBODY).prefix(), readableClassPath(), "cache=" + scratch.resolve("cache"));
        try {
            Properties told = readReport(jvm);
            assertThat(told.getProperty("answer")).isEqualTo("42");
            assertThat(Files.getAttribute(Path.of(told.getProperty("data")), "unix:uid"))
                    .isEqualTo(NOBODY);
        } finally {
            jvm.destroyForcibly().waitFor();
        }
    }

    /** On some systems a dead orphan stays listed until the first process collects it, but without a program. */
    private static boolean isGone(Properties told) {
        return ProcessHandle.of(Long.parseLong(told.getProperty("pid")))
                .flatMap(process -> process.info().command())
                .isEmpty();
    }

    private Process startJvm(List<String> prefix, String classPath, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m", "-cp", classPath));
        command.add(ServerInChildJvm.class.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .directory(scratch.toFile())
                .redirectErrorStream(true)
                .start();
    }

    private static Properties readReport(Process jvm) throws IOException {
        StringBuilder said = new StringBuilder();
        Properties told = new Properties();
        BufferedReader out = jvm.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.equals("done")) {
                return told;
            }
            said.append(line).append('\n');
            int equals = line.indexOf('=');
            if (equals > 0) {
                told.setProperty(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        throw new AssertionError("The child ended:\n" + said);
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    /** Copies the class path, since another user may not enter the directories where it lies. */
    private String readableClassPath() throws IOException {
        Path copies = Files.createDirectory(scratch.resolve("class-path"));
        List<String> entries = new ArrayList<>();
        for (String entry : classPath().split(File.pathSeparator, -1)) {
            Path target = copies.resolve(Integer.toString(entries.size()));
            copy(Path.of(entry), target);
            entries.add(target.toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    private static void copy(Path from, Path to) throws IOException {
        if (Files.isRegularFile(from)) {
            Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES);
        } else if (Files.isDirectory(from)) {
            Files.createDirectory(to);
            Trees.copy(from, to);
        }
    }

    private boolean isRoot() throws IOException {
        return Files.getAttribute(scratch, "unix:uid").equals(0);
    }
}
