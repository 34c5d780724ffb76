package dev.hapax.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another JVM with the class path of this one, that is talked to in lines. Killed when closed. */
public final class ChildJvm implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;
    private final PrintStream in;

    private ChildJvm(Process process) {
        this.process = process;
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    public static ChildJvm start(Class<?> main, List<String> arguments) throws IOException {
        return start(256, main, arguments);
    }

    /** @param heap how much it may use, in mebibytes */
    public static ChildJvm start(int heap, Class<?> main, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap + "m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", // it lives too briefly for the second compiler
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(arguments);
        return new ChildJvm(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public void say(String line) {
        in.println(line);
    }

    /** The next line that begins so; what comes before it is log output. */
    public String awaitLine(String beginning) throws IOException {
        String line;
        while ((line = out.readLine()) != null) {
            if (line.startsWith(beginning)) {
                return line;
            }
            System.err.println("child: " + line);
        }
        throw new AssertionError("the child ended before it said \"" + beginning + "\"");
    }

    /** SIGKILL; returns when it is gone. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }

    /** @param name such as {@code TERM} or {@code STOP} */
    public void signal(String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .inheritIO()
                .start();
        assertThat(kill.waitFor()).isZero();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
