package dev.hapax.gateway;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Prints for people: aligned, and in colour where the environment says that a terminal shows it. */
public final class Screen {
    private final PrintWriter out;
    private final boolean colours;

    public Screen(PrintWriter out, Map<String, String> environment) {
        this.out = out;
        this.colours = hasColours(environment);
    }

    /** The command line sets {@code HAPAX_COLOUR} where there is a terminal; {@code NO_COLOR} is everybody's. */
    static boolean hasColours(Map<String, String> environment) {
        return "yes".equals(environment.get("HAPAX_COLOUR"))
                && environment.getOrDefault("NO_COLOR", "").isEmpty();
    }

    public void line(String text) {
        out.println(text);
        out.flush();
    }

    public void title(String text) {
        line("");
        line(bold(text));
        line("");
    }

    public String bold(String text) {
        return in("1", text);
    }

    public String dim(String text) {
        return in("2", text);
    }

    public String green(String text) {
        return in("32", text);
    }

    /** Names with their values, which may be several lines, one below the other. */
    public void facts(Map<String, List<String>> facts) {
        int width = facts.keySet().stream().mapToInt(String::length).max().orElse(0);
        facts.forEach((name, lines) -> {
            for (int i = 0; i < lines.size(); i++) {
                String start = ("%-" + width + "s").formatted(i == 0 ? name : "");
                line("  " + dim(start) + "  " + lines.get(i));
            }
        });
    }

    /** Rows as lines, with columns as wide as they have to be. */
    public static List<String> table(List<List<String>> rows) {
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                int at = column;
                int width = rows.stream()
                        .mapToInt(other -> other.get(at).length())
                        .max()
                        .orElse(0);
                line.append(("%-" + Math.max(1, width) + "s  ").formatted(row.get(column)));
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }

    private String in(String colour, String text) {
        return colours ? "\u001B[" + colour + "m" + text + "\u001B[0m" : text;
    }
}
