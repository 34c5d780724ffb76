package dev.hapax.examples;

import java.io.PrintStream;
import java.util.Map;

/** Prints for people: aligned, and in colour where the command line says that it is a terminal. */
final class Screen {
    private static final Map<String, String> COLOURS = Map.of(
            "executed", "32", "charged", "32", "replayed", "36", "refused", "33", "in doubt", "33", "killed", "31");

    private final PrintStream out;
    private final boolean colours = "yes".equals(System.getenv("HAPAX_COLOUR"));
    private int steps;

    Screen(PrintStream out) {
        this.out = out;
    }

    void title(String text) {
        out.println();
        out.println(in("1", text));
    }

    void say(String format, Object... values) {
        out.printf(format + "%n", values);
    }

    void step(String format, Object... values) {
        out.printf("%n%s %s%n", in("1", ++steps + "."), format.formatted(values));
    }

    void row(String what, String result, String detail) {
        String padded = "%-12s".formatted(result);
        out.printf("   %-50s %s %s%n", what, in(COLOURS.getOrDefault(result, "0"), padded), detail);
    }

    private String in(String colour, String text) {
        return colours ? "\u001B[" + colour + "m" + text + "\u001B[0m" : text;
    }
}
