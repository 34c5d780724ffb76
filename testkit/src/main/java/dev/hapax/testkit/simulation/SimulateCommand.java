package dev.hapax.testkit.simulation;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** {@code ./hapax simulate}: explores for as long as one likes, and prints what it met. */
public final class SimulateCommand {
    private static final int MOST_FINDINGS = 5;
    private static final String USAGE = """
            usage: ./hapax simulate [--minutes N] [--seed S] [--run S]

              --minutes N   explore for N minutes. Default: 1
              --seed S      begin with this seed. Default: a new one, which is printed
              --run S       repeat the one run with this seed, as a violation prints it

            Exit code: 0 if every promise held, 1 if one was broken, 2 for a mistake on the command line.""";

    private final PrintStream out;
    private double minutes = 1;
    private long seed = new SplittableRandom().nextLong();
    private boolean single;

    private SimulateCommand(PrintStream out) {
        this.out = out;
    }

    /** Runs the command and ends the program. */
    public static void main(String[] arguments) {
        System.exit(new SimulateCommand(System.out).run(arguments));
    }

    private int run(String[] arguments) {
        try {
            if (!read(arguments)) {
                out.println(USAGE);
                return 0;
            }
        } catch (IllegalArgumentException mistake) {
            System.err.println("hapax: " + mistake.getMessage());
            System.err.println(USAGE);
            return 2;
        }
        Simulation simulation = new Simulation(seed);
        long began = System.nanoTime();
        if (single) {
            simulation.run(seed);
        } else {
            out.printf(Locale.ROOT, "Seed %d, for %s minutes%n", seed, minutes);
            simulation.explore(Duration.ofMillis((long) (minutes * 60_000)), MOST_FINDINGS, new ProgressLines(out));
        }
        print(simulation, (System.nanoTime() - began) / 1e9);
        return simulation.findings().isEmpty() ? 0 : 1;
    }

    /** @return whether to go on */
    private boolean read(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            String option = arguments[i];
            if (option.equals("--help") || option.equals("-h")) {
                return false;
            }
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(option + " needs a value, or there is no such option");
            }
            read(option, arguments[++i]);
        }
        return true;
    }

    private void read(String option, String value) {
        try {
            switch (option) {
                case "--minutes" -> minutes = Double.parseDouble(value);
                case "--seed" -> seed = Long.parseLong(value);
                case "--run" -> {
                    seed = Long.parseLong(value);
                    single = true;
                }
                default -> throw new IllegalArgumentException("there is no option " + option);
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(option + " " + value + " is not a number", e);
        }
        if (!(minutes > 0)) {
            throw new IllegalArgumentException("--minutes must be positive");
        }
    }

    private void print(Simulation simulation, double seconds) {
        Simulation.Progress progress = simulation.progress();
        out.println();
        row("runs", progress.runs());
        row("operations", progress.operations());
        row("operations a second", (long) (progress.operations() / seconds));
        row("attempts", progress.attempts());
        progress.faults().entrySet().stream()
                .sorted(Comparator.comparing(Map.Entry::getKey))
                .forEach(fault -> row(fault.getKey().description(), fault.getValue()));
        row("violations", progress.violations());
        simulation.findings().forEach(finding -> out.printf("%n%s%n", finding));
        if (!simulation.findings().isEmpty()) {
            out.printf(
                    "%nRepeat the first one with: ./hapax simulate --run %d%n",
                    simulation.findings().get(0).seed());
        }
    }

    private void row(String what, long count) {
        out.printf(Locale.ROOT, "  %-40s %,15d%n", what, count);
    }

    /** A line every few seconds. */
    private static final class ProgressLines implements Consumer<Simulation.Progress> {
        private static final long EVERY = Duration.ofSeconds(5).toNanos();

        private final PrintStream out;
        private final long began = System.nanoTime();
        private long next = began + EVERY;

        ProgressLines(PrintStream out) {
            this.out = out;
        }

        @Override
        public void accept(Simulation.Progress progress) {
            if (System.nanoTime() - next >= 0) {
                next += EVERY;
                out.printf(
                        Locale.ROOT,
                        "  %4d s  %,12d operations  %,12d attempts  %d violations%n",
                        Duration.ofNanos(System.nanoTime() - began).toSeconds(),
                        progress.operations(),
                        progress.attempts(),
                        progress.violations());
            }
        }
    }
}
