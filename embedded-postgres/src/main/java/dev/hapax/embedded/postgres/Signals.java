package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Signals to a server's whole process tree.
 *
 * <p>The first process is stopped before its children are listed, so none is born unseen in between.
 */
final class Signals {

    private static final Duration CHILDREN_GONE = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(5);

    private Signals() {}

    static void suspend(long postmaster) throws IOException {
        send("STOP", List.of(postmaster));
        send("STOP", children(postmaster).map(ProcessHandle::pid).toList());
    }

    static void resume(long postmaster) throws IOException {
        send("CONT", children(postmaster).map(ProcessHandle::pid).toList());
        send("CONT", List.of(postmaster));
    }

    static void kill(long postmaster) throws IOException {
        if (!Platform.isWindows()) {
            send("STOP", List.of(postmaster));
        }
        List<ProcessHandle> children = children(postmaster).toList();
        ProcessHandle.of(postmaster).ifPresent(ProcessHandle::destroyForcibly);
        children.forEach(ProcessHandle::destroyForcibly);
        awaitExit(children);
    }

    static void send(String signal, List<Long> pids) throws IOException {
        if (Platform.isWindows()) {
            throw new EmbeddedPostgresException(
                    Reason.UNSUPPORTED_PLATFORM, "Windows has no signals, so a server cannot be suspended there");
        }
        if (!pids.isEmpty()) {
            Stream<String> words =
                    Stream.concat(Stream.of("kill", "-s", signal), pids.stream().map(String::valueOf));
            Commands.run(List.of("/bin/sh", "-c", String.join(" ", words.toList())));
        }
    }

    private static Stream<ProcessHandle> children(long postmaster) {
        return ProcessHandle.of(postmaster).stream().flatMap(ProcessHandle::descendants);
    }

    private static void awaitExit(List<ProcessHandle> children) {
        long deadline = System.nanoTime() + CHILDREN_GONE.toNanos();
        try {
            while (children.stream().anyMatch(Signals::isRunning) && System.nanoTime() < deadline) {
                Thread.sleep(POLL.toMillis());
            }
        } catch (InterruptedException e) {
            throw Commands.interrupted(e);
        }
    }

    /** A dead orphan stays listed, without a program, until the system's first process collects it: late, or never. */
    private static boolean isRunning(ProcessHandle process) {
        return process.isAlive() && process.info().command().isPresent();
    }
}
