package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Signals to a server's whole process tree.
 *
 * <p>The first process is stopped before its children are listed, so none is born unseen in between.
 */
final class Signals {

    private static final Duration ALL_STOPPED = Duration.ofSeconds(5);
    private static final Duration CHILDREN_GONE = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(5);

    private Signals() {}

    static void suspend(long postmaster) throws IOException {
        stop(List.of(postmaster));
        stop(children(postmaster).map(ProcessHandle::pid).toList());
    }

    static void resume(long postmaster) throws IOException {
        send("CONT", children(postmaster).map(ProcessHandle::pid).toList());
        send("CONT", List.of(postmaster));
    }

    static void kill(long postmaster) throws IOException {
        if (!Platform.isWindows()) {
            stop(List.of(postmaster));
        }
        List<ProcessHandle> children = children(postmaster).toList();
        ProcessHandle.of(postmaster).ifPresent(ProcessHandle::destroyForcibly);
        children.forEach(ProcessHandle::destroyForcibly);
        awaitExit(children);
    }

    /** On a busy machine a process runs on for a while after the signal was sent. */
    private static void stop(List<Long> pids) throws IOException {
        send("STOP", pids);
        long deadline = System.nanoTime() + ALL_STOPPED.toNanos();
        while (!pids.stream().allMatch(Signals::isStopped) && System.nanoTime() < deadline) {
            sleep();
        }
    }

    /** Where the system does not tell, the signal has to be enough. */
    private static boolean isStopped(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.ISO_8859_1);
            return "TZX".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) >= 0;
        } catch (IOException gone) {
            return true;
        }
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
        while (children.stream().anyMatch(Signals::isRunning) && System.nanoTime() < deadline) {
            sleep();
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(POLL.toMillis());
        } catch (InterruptedException e) {
            throw Commands.interrupted(e);
        }
    }

    /** A dead orphan stays listed, without a program, until the system's first process collects it: late, or never. */
    private static boolean isRunning(ProcessHandle process) {
        return process.isAlive() && process.info().command().isPresent();
    }
}
