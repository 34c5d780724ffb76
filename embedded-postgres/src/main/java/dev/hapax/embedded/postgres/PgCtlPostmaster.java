package dev.hapax.embedded.postgres;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A server under {@code pg_ctl}, for Windows: only there it drops an administrator's rights, which PostgreSQL refuses.
 *
 * <p>Nothing watches this process, so a killed one leaves the server behind.
 */
final class PgCtlPostmaster implements Postmaster {

    private final Binaries binaries;
    private final DataDirectory data;
    private final ProcessHandle server;

    private PgCtlPostmaster(Binaries binaries, DataDirectory data, ProcessHandle server) {
        this.binaries = binaries;
        this.data = data;
        this.server = server;
    }

    static PgCtlPostmaster start(Binaries binaries, DataDirectory data) throws IOException {
        pgCtl(binaries, data, "start", "-w", "-l", data.log().toString());
        ProcessHandle server = PidFile.read(data.path())
                .flatMap(file -> ProcessHandle.of(file.pid()))
                .orElseThrow(() -> ServerStart.failed("pg_ctl did not start the server", data));
        return new PgCtlPostmaster(binaries, data, server);
    }

    @Override
    public long pid() {
        return server.pid();
    }

    @Override
    public boolean isRunning() {
        return server.isAlive();
    }

    @Override
    public void requestStop(StopMode mode) throws IOException {
        pgCtl(binaries, data, "stop", "-W", "-m", mode.name().toLowerCase(Locale.ROOT));
    }

    @Override
    public boolean awaitExit(Duration limit) {
        try {
            server.onExit().get(limit.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            throw Commands.interrupted(e);
        }
    }

    /** Its output is dropped, because the server inherits it and would hold a pipe open. */
    private static void pgCtl(Binaries binaries, DataDirectory data, String... arguments) throws IOException {
        List<String> base =
                List.of(binaries.executable("pg_ctl"), "-D", data.path().toString());
        Process process = Commands.builder(Commands.join(base, List.of(arguments)))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            throw Commands.interrupted(e);
        }
    }
}
