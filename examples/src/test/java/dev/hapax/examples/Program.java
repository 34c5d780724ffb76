package dev.hapax.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A program of ours as a process of its own, with all that it prints. */
final class Program implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Thread reader;

    private Program(Process process) {
        this.process = process;
        this.reader = new Thread(this::read, "program-output");
        this.reader.setDaemon(true);
        this.reader.start();
    }

    static Program start(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(heedingInterrupts());
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        return new Program(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    /** Started in the background of a shell, we ignore SIGINT, and so would our children. */
    private static List<String> heedingInterrupts() throws IOException, InterruptedException {
        List<String> command = List.of("env", "--default-signal=INT");
        List<String> trial = new ArrayList<>(command);
        trial.add("true");
        boolean works = new ProcessBuilder(trial).start().waitFor() == 0;
        return works ? command : List.of();
    }

    /** Waits for something to be printed, and returns the pattern's first group. */
    String awaitPrinted(String pattern) {
        Pattern compiled = Pattern.compile(pattern);
        await().atMost(LIMIT).until(() -> compiled.matcher(printed()).find() || !process.isAlive());
        Matcher found = compiled.matcher(printed());
        assertThat(found.find()).as("%s in%n%s", pattern, printed()).isTrue();
        return found.groupCount() > 0 ? found.group(1) : found.group();
    }

    /** @param name such as {@code INT} or {@code TERM} */
    void signal(String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    int awaitExit() throws InterruptedException {
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as("the program ends; it printed%n%s", printed())
                .isTrue();
        reader.join(LIMIT.toMillis());
        return process.exitValue();
    }

    String printed() {
        return String.join("\n", lines);
    }

    /** SIGKILL, if it still runs. */
    @Override
    public void close() {
        process.destroyForcibly();
    }

    private void read() {
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
