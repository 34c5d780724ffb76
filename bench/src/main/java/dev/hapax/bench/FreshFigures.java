package dev.hapax.bench;

import dev.hapax.bench.peers.Payload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Operations that nobody has asked for before: claim, a handler that does next to nothing, and its end. */
final class FreshFigures {
    private static final int HANDLER_MS = 20;
    private static final int SLOW_CALLERS = 512;

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "fresh-1-caller",
                    "fresh operations, 1 caller, 1 connection",
                    "hand-written JDBC, 1 caller, 1 connection, the same two commits: the claim, then the result",
                    0.95,
                    OneCaller::measure),
            fresh(8),
            fresh(32),
            Figure.of(
                    "fresh-128-callers",
                    "fresh operations, 128 callers, pool of 8",
                    "hand-written JDBC, 128 callers, with the pool size that suits it best",
                    3,
                    Comparison.by((lab, effort) -> against(lab, effort, 128))),
            Figure.of(
                    "fresh-512-callers",
                    "fresh operations, 512 callers, pool of 8",
                    "hand-written JDBC, 512 callers, with the pool size that suits it best",
                    4,
                    Comparison.by((lab, effort) -> against(lab, effort, 512))),
            Figure.informing(
                    "fresh-128-20kB",
                    "fresh operations with results of 20 kB, 128 callers, pool of 8",
                    "the same with results of 300 B",
                    Comparison.by(FreshFigures::largeResults)),
            Figure.of(
                    "cold-analysed-empty",
                    "full load on a new table that was analysed while empty",
                    "the same load on a table in use",
                    0.9,
                    Comparison.by((lab, effort) -> Comparison.of(new ColdStart(lab, true), new ColdStart(lab, false)))),
            Figure.of(
                    "handler-20ms-512",
                    "512 asynchronous callers whose handler takes 20 ms, pool of 8",
                    "512 callers that only wait 20 ms (8 connections held meanwhile would allow 400/s)",
                    0.8,
                    Comparison.by(FreshFigures::slowHandlers)),
            Figure.informing(
                    "handler-20ms-512-threads",
                    "512 threads whose handler sleeps 20 ms, pool of 8",
                    "512 threads that only sleep",
                    Comparison.by(FreshFigures::sleepingThreads)));

    private FreshFigures() {}

    private static Figure fresh(int callers) {
        return Figure.informing(
                "fresh-" + callers + "-callers",
                "fresh operations, " + callers + " callers, pool of 8",
                "hand-written JDBC, " + callers + " callers, with the pool size that suits it best",
                Comparison.by((lab, effort) -> against(lab, effort, callers)));
    }

    static Workload ours(Lab lab, int callers) throws Exception {
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        return Workload.calling("hapax", callers, operations::close, operations::fresh);
    }

    static Workload floor(Lab lab, int callers, int pool) throws Exception {
        Floor floor = new Floor(lab, pool);
        return Workload.calling("floor, pool of " + pool, callers, floor::close, floor::fresh);
    }

    private static Comparison against(Lab lab, Effort effort, int callers) throws Exception {
        return Comparison.withFastestPool(ours(lab, callers), effort, callers, pool -> floor(lab, callers, pool));
    }

    private static Comparison largeResults(Lab lab, Effort effort) throws Exception {
        byte[] large = Payload.bytes(20_000);
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        return Comparison.of(
                Workload.calling("20 kB", 128, operations::close, () -> operations.fresh(lease -> large)),
                ours(lab, 128));
    }

    private static Comparison slowHandlers(Lab lab, Effort effort) throws Exception {
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        Workload.Closing closing = () -> {
            timer.shutdown();
            operations.close();
        };
        return Comparison.of(
                Workload.of(
                        "hapax",
                        closing,
                        it -> chains(
                                it.round().multipliedBy(2),
                                () -> operations.freshAsync(lease -> after(timer, Operations.handle())))),
                Workload.of(
                        "wait",
                        () -> {},
                        it -> chains(it.round().multipliedBy(2), () -> after(timer, Operations.handle()))));
    }

    private static <T> CompletableFuture<T> after(ScheduledExecutorService timer, T value) {
        CompletableFuture<T> later = new CompletableFuture<>();
        timer.schedule(() -> later.complete(value), HANDLER_MS, TimeUnit.MILLISECONDS);
        return later;
    }

    private interface AsyncStep {
        java.util.concurrent.CompletionStage<?> begin();
    }

    /** So many callers without a thread, each of which begins again when it is done. */
    private static double chains(Duration time, AsyncStep step) {
        AtomicLong done = new AtomicLong();
        Window counted = Window.lasting(time);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < SLOW_CALLERS; i++) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            chain(step, counted, done, end);
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).join();
        return counted.perSecond(done.get());
    }

    private static void chain(AsyncStep step, Window counted, AtomicLong done, CompletableFuture<Void> end) {
        step.begin().whenComplete((value, error) -> {
            long now = System.nanoTime();
            if (counted.counts(now)) {
                done.incrementAndGet();
            }
            if (error != null) {
                end.completeExceptionally(error);
            } else if (!counted.isOver(now)) {
                chain(step, counted, done, end);
            } else {
                end.complete(null);
            }
        });
    }

    private static Comparison sleepingThreads(Lab lab, Effort effort) throws Exception {
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        return Comparison.of(
                Workload.calling(
                        "hapax",
                        SLOW_CALLERS,
                        operations::close,
                        () -> operations.fresh(lease -> {
                            Thread.sleep(HANDLER_MS);
                            return Operations.handle();
                        })),
                Workload.calling("sleep", SLOW_CALLERS, () -> {}, () -> Thread.sleep(HANDLER_MS)));
    }

    /** A number of operations over connections opened for them, on a new table or on the one in use. */
    private static final class ColdStart implements Workload {
        private static final int CALLERS = 128;

        private final Lab lab;
        private final boolean cold;
        private int schemas;

        ColdStart(Lab lab, boolean cold) {
            this.lab = lab;
            this.cold = cold;
        }

        @Override
        public String name() {
            return cold ? "hapax, new table" : "hapax, table in use";
        }

        @Override
        public double round(Effort effort) throws Exception {
            if (!cold) {
                return load(Lab.WARM, effort);
            }
            String schema = "cold_" + ++schemas;
            lab.createAnalysedEmpty(schema);
            try {
                return load(schema, effort);
            } finally {
                lab.drop(schema);
            }
        }

        private double load(String schema, Effort effort) throws Exception {
            try (Operations operations = Operations.on(lab, Figures.POOL, schema);
                    Callers callers = Callers.all(CALLERS, operations::fresh)) {
                return callers.counting(effort.bounded()).perSecond();
            }
        }
    }
}
