package dev.hapax.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measures Hapax beside hand-written JDBC, in one run, and prints ratios.
 *
 * <p>Absolute numbers say more about the disk than about the code; a ratio of two loads that took turns on the same
 * database does not. {@code --help} tells the rest.
 */
public final class Bench {
    private Bench() {}

    public static void main(String[] args) throws Exception {
        Options options;
        try {
            options = Options.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.println("--help tells what there is");
            System.exit(2);
            return;
        }
        if (options.help()) {
            System.out.print(Options.HELP);
            Figures.ALL.forEach(it -> System.out.printf("  %-24s %s, against %s%n", it.name(), it.ours(), it.theirs()));
            return;
        }
        boolean met = run(options);
        System.exit(options.check() && !met ? 1 : 0);
    }

    private static boolean run(Options options) throws Exception {
        Progress progress = new Progress(System.err);
        progress.say("starting PostgreSQL and filling the tables");
        List<Measured> results = new ArrayList<>();
        Report report;
        try (Lab lab = Lab.open()) {
            Comparison comparison = new Comparison(lab, options.effort(), progress);
            for (Figure figure : options.figures()) {
                results.add(comparison.measure(figure));
            }
            report = new Report(setting(lab, options.effort()), results);
        }
        progress.say("done");
        System.out.println();
        System.out.print(report.table(isTerminal()));
        Optional<Path> directory = options.resultsDirectory();
        if (directory.isPresent()) {
            report.write(directory.get());
            progress.say("wrote " + directory.get().resolve("latest.md") + " and latest.json");
        }
        return results.stream().allMatch(Measured::meetsBar);
    }

    private static List<String> setting(Lab lab, Effort effort) throws SQLException {
        Runtime runtime = Runtime.getRuntime();
        return List.of(
                "%d processors, %s %s, Java %s, heap of at most %d MiB"
                        .formatted(
                                runtime.availableProcessors(),
                                System.getProperty("os.name"),
                                System.getProperty("os.arch"),
                                System.getProperty("java.version"),
                                runtime.maxMemory() >> 20),
                lab.describe(),
                "%d rounds of %d ms per side (or %,d operations), taking turns, after at most %d s of warm-up"
                        .formatted(
                                effort.rounds(),
                                effort.round().toMillis(),
                                effort.bounded(),
                                effort.warmUp().toSeconds()),
                "the rounds of one caller are made of 10 shorter turns, so that both sides meet the same disk",
                "ratio: median over the rounds of hapax/s divided by other/s of the same round");
    }

    /** Asks {@code test -t}: {@code System.console()} has another meaning from one Java to the next. */
    private static boolean isTerminal() throws InterruptedException {
        if (System.getenv("NO_COLOR") != null) {
            return false;
        }
        try {
            return new ProcessBuilder("test", "-t", "1").inheritIO().start().waitFor() == 0;
        } catch (IOException noSuchCommand) {
            return false;
        }
    }
}
