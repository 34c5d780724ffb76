package dev.hapax.bench.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A JVM with this one's class path. It ends when this one does, however that is, as long as its main class
 * {@link #endWithParent asks for that}.
 */
public final class ChildJvm implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 10;
    private static final Pattern COMPILER = Pattern.compile("\\(C[12] Compiler");

    /** Places in a thread's counters, after its name. */
    private static final int USER_TIME = 11;

    private static final int SYSTEM_TIME = 12;
    private static final long MILLIS_PER_TICK = 10;

    private final Process process;
    private final BufferedReader out;
    private final String name;

    private ChildJvm(Process process, String name) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
        this.name = name;
    }

    /** Starts a main class; its errors go where ours go. */
    public static ChildJvm start(Class<?> main, List<String> javaOptions, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(javaOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new ChildJvm(process, main.getSimpleName());
    }

    /** For the child: ends this JVM once nobody holds the other end of its standard input. */
    public static void endWithParent() {
        Thread watch = new Thread(
                () -> {
                    try {
                        int unused = System.in.readAllBytes().length;
                    } catch (IOException gone) {
                        // as good as its end
                    }
                    Runtime.getRuntime().halt(0);
                },
                "parent-watch");
        watch.setDaemon(true);
        watch.start();
    }

    /** The next line that the child prints. */
    public String line() throws IOException {
        String line = out.readLine();
        if (line == null) {
            throw new IOException(name + " ended without a word");
        }
        return line;
    }

    public long pid() {
        return process.pid();
    }

    /** How much of the processors it has used so far. */
    public Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** How much of that its compilers have used; nothing where the system does not tell. */
    public Duration compilerTime() throws IOException {
        Path threads = Path.of("/proc", Long.toString(pid()), "task");
        if (!Files.isDirectory(threads)) {
            return Duration.ZERO;
        }
        long ticks = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(threads)) {
            for (Path thread : all) {
                String counters = Files.readString(thread.resolve("stat"));
                if (COMPILER.matcher(counters).find()) {
                    String[] fields =
                            counters.substring(counters.lastIndexOf(')') + 2).split(" ", -1);
                    ticks += Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME]);
                }
            }
        } catch (NoSuchFileException ended) {
            return compilerTime(); // a thread that was there when the list was made
        }
        return Duration.ofMillis(ticks * MILLIS_PER_TICK);
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            out.close();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException gone) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
