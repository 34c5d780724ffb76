package dev.hapax.bench;

import dev.hapax.bench.gateway.GatewayBench;
import dev.hapax.bench.micro.Cost;
import dev.hapax.bench.micro.Micro;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures Hapax beside hand-written JDBC and beside its peers, in one run, and prints ratios.
 *
 * <p>Absolute numbers say more about the disk than about the code; a ratio of two loads that took turns on the same
 * database does not. {@code --help} tells the rest.
 */
public final class Bench implements AutoCloseable {
    private final Lab lab;
    private final Effort effort;
    private final Progress progress;
    private boolean warmedUp;
    private @Nullable GatewayBench gateway;
    private @Nullable List<Cost> costs;
    private TableFigures.@Nullable Sustained sustained;
    private final Set<String> unsettled = new LinkedHashSet<>();
    private String current = "";
    private final PeerFigures.Results peers = new PeerFigures.Results(this);
    private final LatencyFigures.FixedRates fixedRates = new LatencyFigures.FixedRates(this);

    private Bench(Lab lab, Effort effort, Progress progress) {
        this.lab = lab;
        this.effort = effort;
        this.progress = progress;
    }

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
            Figures.ALL.forEach(it -> System.out.printf("  %-26s %s, against %s%n", it.name(), it.ours(), it.theirs()));
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
        try (Lab lab = Lab.open();
                Bench bench = new Bench(lab, options.effort(), progress)) {
            for (Figure figure : options.figures()) {
                progress.begin(figure);
                bench.current = figure.name();
                results.add(figure.measuring().measure(figure, bench));
            }
            report = new Report(bench.setting(options), results, bench.costs == null ? List.of() : bench.costs);
        }
        progress.say("done");
        System.out.println();
        System.out.print(report.table(isTerminal()));
        Optional<Path> directory = options.resultsDirectory();
        if (directory.isPresent()) {
            report.write(directory.get());
            progress.say("wrote latest.md, latest.json and latest.svg to " + directory.get());
        }
        return results.stream().allMatch(Measured::meetsBar);
    }

    Lab lab() {
        return lab;
    }

    Effort effort() {
        return effort;
    }

    void say(String what) {
        progress.say(what);
    }

    /** Warms the current figure up, and has the report tell if it did not settle. */
    void warmUp(WarmUp warmUp, WarmUp.Round round) throws Exception {
        say("warming up until the compilers rest and no side gets faster");
        if (!warmUp.run(round)) {
            say("not settled, but the time is up");
            unsettled.add(current);
        }
    }

    /** The gateway and what it is compared with, started by the first figure that needs them. */
    GatewayBench gateway() throws IOException {
        if (gateway == null) {
            say("starting an upstream and two gateways");
            gateway = GatewayBench.open(lab.jdbcUrl());
        }
        return gateway;
    }

    /** What single steps cost, measured by the first figure that asks. */
    List<Cost> costs() throws Exception {
        if (costs == null) {
            costs = Micro.run(effort.quick(), progress::say);
        }
        return costs;
    }

    /** Has what fresh operations of both sides run compiled, for the first figure that asks. */
    void warmUpFreshOperations() throws Exception {
        if (!warmedUp) {
            OneCaller.warmUp(this);
            warmedUp = true;
        }
    }

    PeerFigures.Results peers() {
        return peers;
    }

    LatencyFigures.FixedRates fixedRates() {
        return fixedRates;
    }

    /** The load that lasts, run by the first figure that asks. */
    TableFigures.Sustained sustained() throws Exception {
        if (sustained == null) {
            sustained = TableFigures.Sustained.run(this);
        }
        return sustained;
    }

    @Override
    public void close() throws IOException {
        if (gateway != null) {
            gateway.close();
        }
    }

    private List<String> setting(Options options) throws SQLException {
        Runtime runtime = Runtime.getRuntime();
        List<String> lines = new ArrayList<>(List.of(
                "%d processors, %s %s, Java %s, heap of at most %d MiB; callers, driver, database and peers share them"
                        .formatted(
                                runtime.availableProcessors(),
                                System.getProperty("os.name"),
                                System.getProperty("os.arch"),
                                System.getProperty("java.version"),
                                runtime.maxMemory() >> 20),
                lab.describe(),
                "%d rounds (3 of the outbox, and where a figure has no bar) of %d ms per side, or of %,d operations; the sides take turns"
                        .formatted(effort.rounds(), effort.round().toMillis(), effort.bounded()),
                "before that, sides warm up until neither has become faster by more than 5 %% for three rounds in a row and the compilers rest, for at most %d s (gateways, outbox and Kafka: longer)"
                        .formatted(effort.warmUp().toSeconds()),
                "Hapax has a pool of %d, unless a figure says otherwise; hand-written JDBC and peers have the fastest of %s"
                        .formatted(Figures.POOL, effort.pools()),
                "callers, other than the gateways' clients, are under way for half a round before a round counts, and until after its end",
                "a round of both sides is done again if other virtual machines took more than 4 %% of the processors in it, at most %d a figure"
                        .formatted(effort.again()),
                "one caller takes turns operation by operation, and the middle of a round's times counts",
                "latencies at a fixed rate count from when an operation was due; wake-ups of its thread included, for both sides",
                "ratio: median over the rounds of ours divided by theirs of the same round"));
        if (options.figures().stream().anyMatch(OutboxFigures.ALL::contains)) {
            lines.add(OutboxFigures.DURABILITY);
        }
        if (!unsettled.isEmpty()) {
            lines.add("not settled when the time for the warm-up was up: " + String.join(", ", unsettled));
        }
        return lines;
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
