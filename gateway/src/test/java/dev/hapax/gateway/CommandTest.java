package dev.hapax.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.embedded.postgres.EmbeddedPostgres;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command line: exit codes, and what is printed where. */
class CommandTest {
    private static final String VALID = """
            listen: 127.0.0.1:0
            admin: off
            upstream: http://127.0.0.1:1
            store: {url: "jdbc:postgresql://127.0.0.1:1/x", user: me, password: geheim}
            """;

    @TempDir
    Path directory;

    /** What a run of the program printed, and how it ended. */
    private record Run(int exit, String out, String err) {}

    @Test
    void withoutACommandItSaysWhatThereIs() {
        Run run = run();

        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains("a command is needed", "gateway", "config", "Examples:");
    }

    @Test
    void helpAndVersionAreAnswers() {
        assertThat(run("--version").out()).startsWith("hapax ").contains("Java");
        assertThat(run("gateway", "--version").out()).startsWith("hapax ");
        for (String[] help : new String[][] {{"--help"}, {"help"}, {"gateway", "--help"}, {"config", "--help"}}) {
            Run run = run(help);
            assertThat(run.exit()).isZero();
            assertThat(run.out()).contains("Usage: hapax", "Examples:").doesNotContain("\u001B[");
        }
    }

    @Test
    void aFlagThatDoesNotExistIsAMistake() {
        Run run = run("gateway", "--lisen", "8080");

        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains("--lisen", "--listen");
        assertThat(run("gateway", "--wait", "soon").err()).contains("a number and its unit are needed");
    }

    @Test
    void configPrintsWhatCountsWithoutSecrets() throws IOException {
        Run run = run("config", "--config", file(VALID), "--listen", "9090", "--set", "defaults.retention=2h");

        assertThat(run.exit()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .containsPattern("listen: 9090 +# --listen\n")
                .containsPattern("url: http://127.0.0.1:1 +# .*hapax.yaml:3\n")
                .doesNotContain("geheim");
    }

    @Test
    void mistakesAreToldOnStandardErrorForBothCommands() throws IOException {
        String file = file("listn: 1\nstore: embedded\nupstream: http://a\nlimits: {body: x}\n");
        for (String command : new String[] {"config", "gateway"}) {
            Run run = run(command, "--config", file);

            assertThat(run.exit()).isEqualTo(2);
            assertThat(run.out()).isEmpty();
            assertThat(run.err().lines())
                    .hasSize(3)
                    .satisfies(lines -> assertThat(lines.get(0)).startsWith(file + ":1:1: there is no setting listn"))
                    .satisfies(lines -> assertThat(lines.get(1)).startsWith(file + ":4:16: limits.body"))
                    .satisfies(lines -> assertThat(lines.get(2)).isEqualTo("hapax: the configuration has 2 mistakes"));
        }
    }

    @Test
    void aFileThatIsNotThereIsAMistake() {
        Run run = run("config", "--config", "nowhere.yaml");

        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).startsWith("nowhere.yaml:1:1: there is no such file; it was looked for at /");
        assertThat(run("config", "--config", directory.toString()).err()).contains("it is a directory");
    }

    @Test
    void theEnvironmentNamesTheFile() throws IOException {
        assertThat(run(Map.of("HAPAX_CONFIG", file(VALID), "HAPAX_ADMIN", "7"), "config")
                        .out())
                .containsPattern("admin: 7 +# HAPAX_ADMIN\n");
    }

    @Test
    void aBusyPortIsSaidWithWhatToDo() throws IOException {
        try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = busy.getLocalPort();
            Run run = run("gateway", "--config", file(VALID), "--listen", "127.0.0.1:" + port);

            assertThat(run.exit()).isEqualTo(1);
            assertThat(run.err())
                    .startsWith("hapax: port " + port + " is in use by another program; stop it, or choose another")
                    .contains("--listen 127.0.0.1:")
                    .doesNotContain("\tat ");
            assertThat(run("gateway", "--config", file(VALID), "--admin", "127.0.0.1:" + port)
                            .err())
                    .contains("--admin 127.0.0.1:");
        }
    }

    @Test
    void anAddressOfAnotherMachineIsRefused() throws IOException {
        assertThat(run("gateway", "--config", file(VALID), "--listen", "192.0.2.1:8080")
                        .err())
                .startsWith("hapax: cannot listen on 192.0.2.1:8080")
                .contains("--listen");
    }

    @Test
    void aStoreThatCannotBeReachedIsSaidWithWhatToDo() throws IOException {
        Run run = run("gateway", "--config", file(VALID), "--wait", "0s");

        assertThat(run.exit()).isEqualTo(1);
        assertThat(run.err())
                .contains(
                        "hapax: the store jdbc:postgresql://127.0.0.1:1/x cannot be reached: Connection to 127.0.0.1:1")
                .contains("--wait 1m")
                .doesNotContain("\tat ", "geheim");
    }

    @Test
    void anAddressOfAStoreThatNoDriverUnderstandsIsRefused() throws IOException {
        Run run = run("gateway", "--config", file(VALID), "--store", "jdbc:postgresql://db:x/y?password=geheim");

        assertThat(run.exit()).isEqualTo(1);
        assertThat(run.err()).contains("cannot make sense of store.url").doesNotContain("\tat ", "geheim");
    }

    @Test
    void aStoreThatRefusesIsSaidToo() throws IOException {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            String url = "jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres";
            Run stranger = run("gateway", "--config", file(VALID), "--store", url, "--wait", "0s");
            Run tables = run(
                    Map.of("HAPAX_STORE_USER", server.user(), "HAPAX_STORE_PASSWORD", server.password()),
                    "gateway",
                    "--config",
                    file(VALID),
                    "--store",
                    url,
                    "--set",
                    "store.migrate=false");

            assertThat(stranger.exit()).isEqualTo(1);
            assertThat(stranger.err()).contains("password authentication failed for user \"me\"");
            assertThat(tables.exit()).isEqualTo(1);
            assertThat(tables.err()).contains("tables are missing").contains("store.migrate");
        }
    }

    private String file(String yaml) throws IOException {
        return Files.writeString(directory.resolve("hapax.yaml"), yaml).toString();
    }

    private static Run run(String... arguments) {
        return run(Map.of(), arguments);
    }

    private static Run run(Map<String, String> environment, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = HapaxCommand.commandLine(environment)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err));
        int exit = line.execute(arguments);
        return new Run(exit, out.toString(), err.toString());
    }
}
