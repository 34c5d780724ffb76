package dev.hapax.simulation;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * {@code ./hapax mutants}: hunts every mutant and writes the table of what caught it into a document, between two
 * markers.
 */
public final class MutantTable {
    private static final String BEGIN = "<!-- mutants: made by ./hapax mutants -->\n";
    private static final String END = "<!-- end of mutants -->";
    private static final long SEED = 1;

    private MutantTable() {}

    /**
     * @param arguments the sources of core, and the document
     * @throws IllegalStateException when a mutant survives
     */
    public static void main(String[] arguments) throws Exception {
        Path sources = Path.of(arguments[0]);
        Path document = Path.of(arguments[1]);
        StringBuilder table = new StringBuilder("| breakage | found as | after operations |\n|---|---|---|\n");
        int survivors = 0;
        for (Mutant mutant : Mutant.all()) {
            MutantHunt.Catch caught = MutantHunt.on(mutant, sources, SEED, Duration.ofMinutes(5));
            System.out.printf(
                    Locale.ROOT,
                    "%-75s %-24s %,10d operations  %5.1f s%n",
                    mutant.what(),
                    caught.violation() == null ? "SURVIVED" : caught.violation(),
                    caught.operations(),
                    caught.seconds());
            survivors += caught.violation() == null ? 1 : 0;
            table.append(String.format(
                    Locale.ROOT, "| %s | `%s` | %,d |%n", mutant.what(), caught.violation(), caught.operations()));
        }
        if (survivors > 0) {
            throw new IllegalStateException(survivors + " mutants survived: the table was not written");
        }
        write(document, table.toString());
    }

    private static void write(Path document, String table) throws Exception {
        String text = Files.readString(document);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalStateException(document + " has no place for the table: " + BEGIN);
        }
        Files.writeString(document, text.substring(0, begin) + BEGIN + table + text.substring(end));
        System.out.println("Written to " + document);
    }
}
