package dev.hapax.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the command line asks for.
 *
 * @param only the names of the figures to measure, in any order; empty for all
 * @param results where to write; empty for the default, which only complete runs use
 */
record Options(boolean help, boolean quick, boolean check, List<String> only, Optional<Path> results) {
    static final String HELP = """
            Measures Hapax beside hand-written JDBC and other libraries, on a PostgreSQL of its own, and prints ratios.

            usage: ./hapax bench [outbox | kafka] [--quick] [--only NAME,...] [--check] [--results DIRECTORY] [--help]

              outbox               only the outbox, beside gruelbox's transaction-outbox: about six minutes, --quick two
              kafka                only the Kafka consumer, beside one with an insert per message: about a minute

              --quick              about a minute and a half, with more noise: only figures that have a bar, without
                                   the peers and with one fixed rate; otherwise it takes about a quarter of an hour
              --only NAME,...      these figures only; fixed-rate means all those whose names begin with fixed-rate-
              --check              exit with 1 when a bar is not met
              --results DIRECTORY  write latest.md, .json and .svg there; without it, only a run that is
                                   neither quick nor partial writes them, to bench/results
              --help               this text

            figures, of which those of outbox and kafka are measured only when asked for:
            """;

    static Options parse(String[] args) {
        Set<String> flags = new HashSet<>();
        List<String> only = new ArrayList<>();
        Optional<Path> results = Optional.empty();
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "outbox", "kafka" -> only.addAll(names(args[i]));
                case "--help", "--quick", "--check" -> flags.add(args[i]);
                case "--only" -> only.addAll(names(value(args, ++i)));
                case "--results" -> results = Optional.of(Path.of(value(args, ++i)));
                default -> throw new IllegalArgumentException("unknown option " + args[i]);
            }
        }
        return new Options(
                flags.contains("--help"), flags.contains("--quick"), flags.contains("--check"), only, results);
    }

    private static String value(String[] args, int index) {
        if (index == args.length) {
            throw new IllegalArgumentException(args[index - 1] + " needs a value");
        }
        return args[index];
    }

    private static List<String> names(String value) {
        List<String> known = Figures.ALL.stream().map(Figure::name).toList();
        List<String> names = new ArrayList<>();
        for (String name : value.split(",", -1)) {
            List<String> meant = known.contains(name) ? List.of(name) : beginning(known, name + "-");
            if (meant.isEmpty()) {
                throw new IllegalArgumentException("no figure is called " + name + "; there are " + known);
            }
            names.addAll(meant);
        }
        return names;
    }

    private static List<String> beginning(List<String> names, String prefix) {
        return names.stream().filter(it -> it.startsWith(prefix)).toList();
    }

    Effort effort() {
        return quick ? Effort.QUICK : Effort.FULL;
    }

    /** What has a bar; but to find the fastest peer, all of them have to be measured. */
    private static boolean isQuick(Figure figure) {
        return figure.bar().isPresent() && !figure.name().equals(PeerFigures.FASTEST) && LatencyFigures.isQuick(figure);
    }

    List<Figure> figures() {
        return only.isEmpty()
                ? Figures.USUAL.stream().filter(it -> !quick || isQuick(it)).toList()
                : Figures.ALL.stream().filter(it -> only.contains(it.name())).toList();
    }

    /** Where to write, if anywhere: noisy or partial numbers do not replace those of a full run by accident. */
    Optional<Path> resultsDirectory() {
        boolean complete = !quick && only.isEmpty();
        return results.isPresent() || !complete ? results : Optional.of(Path.of("bench", "results"));
    }
}
