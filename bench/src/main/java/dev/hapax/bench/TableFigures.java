package dev.hapax.bench;

import dev.hapax.Policy;
import dev.hapax.store.State;
import dev.hapax.store.StoreInspector.Search;
import dev.hapax.store.Swept;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** What becomes of speed when tables grow, are purged, and are in use for long. */
final class TableFigures {
    private static final int CALLERS = 128;
    private static final int SWEEP = 5_000;
    private static final int PARKED = 1_000;
    private static final int LISTED = 100;
    private static final double MOST_MILLIS = 50;
    private static final Duration LONGEST_KEPT = Duration.ofSeconds(2);
    private static final String SMALL = "small";
    private static final String LARGE = "large";
    private static final String LASTING = "lasting";

    static final List<Figure> ALL = List.of(
            Figure.informing(
                    "rows-1M",
                    "fresh operations in a table of a tenth of the rows below, 128 callers",
                    "the same in a table that is almost empty",
                    (figure, bench) -> grown(figure, bench, bench.effort().rows() / 10)),
            Figure.of(
                    "rows-10M",
                    "fresh operations in a table of 10 million rows (quick: 100,000), 128 callers",
                    "the same in a table that is almost empty",
                    0.75,
                    (figure, bench) -> grown(figure, bench, bench.effort().rows())),
            Figure.of(
                    "in-doubt-10M",
                    "listing 100 of 1,000 operations in doubt in that table",
                    "50 ms",
                    1,
                    TableFigures::inDoubt),
            Figure.of(
                    "sweep-throughput",
                    "expired rows swept per second",
                    "fresh operations per second, 128 callers",
                    5,
                    TableFigures::sweep),
            Figure.of(
                    "sweep-against-delete",
                    "a sweep of 5,000 expired rows out of that table",
                    "one DELETE of as many rows by their ids; 0.33 is three times as long",
                    0.33,
                    TableFigures::sweepAgainstDelete),
            Figure.of(
                    "sustained-speed",
                    "fresh operations of the last third of three minutes, while a sweeper removes as many",
                    "those of the first third; both per second of the time that other virtual machines left",
                    0.9,
                    (figure, bench) -> bench.sustained().speed(figure)),
            Figure.of(
                    "sustained-size",
                    "size of table and indexes after the first third",
                    "size at the end; 1 is flat",
                    0.9,
                    (figure, bench) -> bench.sustained().size(figure)));

    private TableFigures() {}

    private static Measured grown(Figure figure, Bench bench, int rows) throws Exception {
        Lab lab = bench.lab();
        String large = largeSchema(bench, rows);
        lab.createAnalysedEmpty(SMALL);
        Operations ours = Operations.on(lab, Figures.POOL, large);
        Operations empty = Operations.on(lab, Figures.POOL, SMALL);
        try (Comparison comparison = Comparison.of(
                Workload.calling("hapax, %,d rows".formatted(rows), CALLERS, ours::close, ours::fresh),
                Workload.calling("hapax, empty", CALLERS, empty::close, empty::fresh))) {
            return comparison.measure(figure, bench);
        } finally {
            lab.drop(SMALL);
        }
    }

    /** A table with so many rows; the next figure that needs more has it grow. */
    private static String largeSchema(Bench bench, int rows) throws Exception {
        int missing = rows - bench.lab().grown(LARGE);
        if (missing > 0) {
            bench.say("filling a table with %,d rows".formatted(missing));
            bench.lab().grow(LARGE, missing);
        }
        return LARGE;
    }

    /** The whole call, so that the round trip counts as well. */
    private static Measured inDoubt(Figure figure, Bench bench) throws Exception {
        String schema = largeSchema(bench, bench.effort().rows());
        bench.lab().insertParked(schema, PARKED);
        Search search = Search.everything().states(State.IN_DOUBT).limit(LISTED);
        List<Double> measured = new ArrayList<>();
        try (Operations operations = Operations.on(bench.lab(), 1, schema)) {
            bench.warmUp(WarmUp.of(bench.effort()), () -> new double[] {1 / millisToList(operations, search)});
            for (int i = 0; i < bench.effort().rounds(); i++) {
                measured.add(millisToList(operations, search));
            }
        }
        return new Measured(
                figure,
                measured.stream().map(it -> MOST_MILLIS / it).toList(),
                "%.1f ms".formatted(Measured.Spread.of(measured).median()),
                "%.0f ms".formatted(MOST_MILLIS),
                "the bar");
    }

    private static double millisToList(Operations operations, Search search) {
        long began = System.nanoTime();
        int found = operations.store().inspector().search(search).size();
        double millis = (System.nanoTime() - began) / 1e6;
        if (found != LISTED) {
            throw new IllegalStateException("expected to list " + LISTED + ", but it was " + found);
        }
        return millis;
    }

    private static Measured sweep(Figure figure, Bench bench) throws Exception {
        Lab lab = bench.lab();
        String schema = largeSchema(bench, bench.effort().rows());
        Operations operations = Operations.on(lab, Figures.POOL, schema);
        Workload sweeps = Workload.of("sweep", operations::close, effort -> {
            lab.insertExpired(schema, 4 * SWEEP);
            long began = System.nanoTime();
            for (int i = 0; i < 4; i++) {
                sweep(operations);
            }
            return 4 * SWEEP * 1e9 / (System.nanoTime() - began);
        });
        Operations fresh = Operations.on(lab, Figures.POOL, schema);
        try (Comparison comparison =
                Comparison.of(sweeps, Workload.calling("fresh", CALLERS, fresh::close, fresh::fresh))) {
            return comparison.measure(figure, bench);
        }
    }

    private static Measured sweepAgainstDelete(Figure figure, Bench bench) throws Exception {
        Lab lab = bench.lab();
        String schema = largeSchema(bench, bench.effort().rows());
        Operations operations = Operations.on(lab, Figures.POOL, schema);
        try (Comparison comparison = Comparison.of(
                Workload.of("sweep", operations::close, effort -> {
                    lab.insertExpired(schema, SWEEP);
                    long began = System.nanoTime();
                    sweep(operations);
                    return SWEEP * 1e9 / (System.nanoTime() - began);
                }),
                Workload.of("delete", () -> {}, effort -> {
                    lab.insertExpired(schema, SWEEP);
                    return SWEEP * 1e9 / lab.deleteExpired(schema, SWEEP);
                }))) {
            return comparison.measure(figure, bench);
        }
    }

    private static void sweep(Operations operations) {
        Swept swept = operations.store().sweep(SWEEP).toCompletableFuture().join();
        if (swept.removed() != SWEEP) {
            throw new IllegalStateException("expected to sweep " + SWEEP + ", but it was " + swept);
        }
    }

    /**
     * A load that lasts, while a sweeper removes what has expired.
     *
     * @param early operations per second of the first third, of the time that other virtual machines left
     * @param late those of the last one
     * @param grown bytes of table and indexes after the first third
     * @param atEnd the same at the end
     */
    record Sustained(double early, double late, long grown, long atEnd) {

        static Sustained run(Bench bench) throws Exception {
            Lab lab = bench.lab();
            lab.createAnalysedEmpty(LASTING);
            AtomicBoolean stop = new AtomicBoolean();
            Duration third = bench.effort().sustained().dividedBy(3);
            Duration kept = LONGEST_KEPT.compareTo(third) < 0 ? LONGEST_KEPT : third;
            try (Operations operations = Operations.on(
                            lab, Figures.POOL, LASTING, Policy.payment().retention(kept));
                    Callers callers = Callers.all(CALLERS, operations::fresh)) {
                Thread sweeper = new Thread(() -> purge(operations, stop), "sweeper");
                sweeper.start();
                Duration round = bench.effort().toWarmUp().round();
                bench.warmUp(WarmUp.of(bench.effort()), () ->
                        new double[] {callers.lasting(round).perSecond()});
                Callers.Round unused = callers.lasting(kept.multipliedBy(2));
                List<Double> rates = new ArrayList<>();
                List<Long> sizes = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    Processors before = Processors.now();
                    double rate = callers.lasting(third).perSecond();
                    double stolen = Processors.now().since(before).shareStolen();
                    rates.add(rate / (1 - stolen));
                    sizes.add(lab.size(LASTING));
                    bench.say("%s/s with %.0f %% of the processors stolen, table and indexes %,d kB, %s"
                            .formatted(Report.rate(rate), 100 * stolen, sizes.get(i) / 1_000, lab.tuples(LASTING)));
                }
                stop.set(true);
                sweeper.join();
                return new Sustained(rates.get(0), rates.get(2), sizes.get(0), sizes.get(2));
            }
        }

        private static void purge(Operations operations, AtomicBoolean stop) {
            while (!stop.get()) {
                Swept swept =
                        operations.store().sweep(SWEEP).toCompletableFuture().join();
                if (swept.removed() < SWEEP / 2) {
                    LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
                }
            }
        }

        Measured speed(Figure figure) {
            return Measured.rates(figure, List.of(late), List.of(early), "its own beginning");
        }

        Measured size(Figure figure) {
            return new Measured(
                    figure,
                    List.of((double) grown / atEnd),
                    "%,d kB".formatted(grown / 1_000),
                    "%,d kB".formatted(atEnd / 1_000),
                    "its own end");
        }
    }
}
