package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server below a small shell, which stops the server when this process ends, however it ends.
 *
 * <p>The shell's child, the lifeline, reads a pipe that only this process holds open. Its end is the end of this
 * process, and then the lifeline tells the server to stop at once: that is what a crash would do, so nothing committed
 * is lost. The shell itself waits for the server, so that its own exit is the server's, and removes a temporary data
 * directory if the lifeline has seen this process end. Where {@code setsid} exists, all of them leave the terminal's
 * process group, so that neither Ctrl-C nor a kill of the group takes the lifeline away before its time.
 */
final class SupervisedPostmaster implements Postmaster {

    private static final String SUPERVISOR = """
            log=$1 leftover=$2
            shift 2
            exec 3<&0
            "$@" </dev/null >>"$log" 2>&1 3<&- &
            server=$!
            trap '' HUP INT TERM
            (
              while read -r _; do :; done <&3
              kill -s CONT "$server"
              kill -s QUIT "$server"
            ) >/dev/null 2>&1 &
            lifeline=$!
            exec 3<&- </dev/null
            echo "$server"
            exec >/dev/null 2>&1
            wait "$server"
            status=$?
            kill -s KILL "$lifeline"
            wait "$lifeline" && [ -n "$leftover" ] && rm -rf -- "$leftover"
            exit "$status"
            """;

    private final Process supervisor;
    private final long pid;

    private SupervisedPostmaster(Process supervisor, long pid) {
        this.supervisor = supervisor;
        this.pid = pid;
    }

    static SupervisedPostmaster start(Binaries binaries, DataDirectory data, RunAs runAs) throws IOException {
        List<String> command = new ArrayList<>(newSession());
        command.addAll(runAs.command(List.of("/bin/sh", "-c", SUPERVISOR, "hapax-postgres")));
        command.add(data.log().toString());
        command.add(data.temporary() ? data.path().toString() : "");
        command.addAll(
                List.of(binaries.executable("postgres"), "-D", data.path().toString()));
        Process supervisor = Commands.builder(command)
                .redirectError(Redirect.appendTo(data.log().toFile()))
                .start();
        return new SupervisedPostmaster(supervisor, readPid(supervisor, data));
    }

    @Override
    public long pid() {
        return pid;
    }

    @Override
    public boolean isRunning() {
        return supervisor.isAlive();
    }

    @Override
    public void requestStop(StopMode mode) throws IOException {
        Signals.send(mode.signal, List.of(pid));
    }

    @Override
    public boolean awaitExit(Duration limit) {
        try {
            return supervisor.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw Commands.interrupted(e);
        }
    }

    private static long readPid(Process supervisor, DataDirectory data) throws IOException {
        try (BufferedReader out = supervisor.inputReader()) {
            String line = out.readLine();
            if (line == null) {
                throw new EmbeddedPostgresException(
                        Reason.SERVER_FAILED, "The server's supervisor did not start:\n" + data.logTail());
            }
            return Long.parseLong(line.strip());
        }
    }

    private static List<String> newSession() {
        boolean available =
                List.of("/usr/bin/setsid", "/bin/setsid").stream().anyMatch(path -> Files.isExecutable(Path.of(path)));
        return available ? List.of("setsid") : List.of();
    }
}
