package dev.hapax.bench;

import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Operations that were asked for before, or that many ask for at once. */
final class RepeatFigures {
    private static final int CALLERS = 32;
    private static final int MANY = 128;
    private static final int STORM = 1_000;
    private static final List<String> KEYS =
            IntStream.range(0, 2_000).mapToObj(i -> "replayed-" + i).toList();

    static final List<Figure> ALL = List.of(
            Figure.of(
                    "replay-store-32",
                    "replays from the store, 32 callers, pool of 8",
                    "one SELECT by id each, 32 callers, with the pool size that suits it best",
                    1.5,
                    Comparison.by((lab, effort) -> replays(lab, effort, Operations.on(lab, Figures.POOL, Lab.WARM)))),
            Figure.of(
                    "replay-near-cache-32",
                    "replays from the near cache, fingerprint checked, 32 callers",
                    "one SELECT by id each, 32 callers, with the pool size that suits it best",
                    100,
                    Comparison.by((lab, effort) -> replays(lab, effort, Operations.cached(lab, Figures.POOL)))),
            Figure.informing(
                    "storm-1000-one-key",
                    "calls of 1,000 callers that wait for one key, a new one for every thousand calls, pool of 8",
                    "fresh operations of hand-written JDBC, 128 callers, with the pool size that suits it best",
                    Comparison.by(RepeatFigures::storm)),
            Figure.informing(
                    "zipf-128",
                    "128 callers on keys of which few are asked for often (Zipf over 100,000), pool of 8",
                    "fresh operations of hand-written JDBC, 128 callers, with the pool size that suits it best",
                    Comparison.by(RepeatFigures::zipf)),
            Figure.informing(
                    "mixed-80-20-128",
                    "80 % fresh operations and 20 % retries, 128 callers, pool of 8",
                    "hand-written JDBC doing the same with a SELECT for each retry, 128 callers, with the pool size that suits it best",
                    Comparison.by(RepeatFigures::mixed)));

    private RepeatFigures() {}

    private static Comparison replays(Lab lab, Effort effort, Operations operations) throws Exception {
        prepare(operations);
        return Comparison.withFastestPool(
                Workload.calling("hapax", CALLERS, operations::close, () -> operations.replay(any(KEYS))),
                effort,
                CALLERS,
                pool -> selects(lab, pool));
    }

    private static Workload selects(Lab lab, int pool) throws Exception {
        Floor floor = new Floor(lab, pool);
        List<UUID> ids = floor.some(KEYS.size());
        return Workload.calling("select, pool of " + pool, CALLERS, floor::close, () -> floor.read(any(ids)));
    }

    private static void prepare(Operations operations) throws Exception {
        Queue<String> open = new ConcurrentLinkedQueue<>(KEYS);
        try (Callers callers = Callers.all(CALLERS, () -> operations.either(open.remove()))) {
            Callers.Round unused = callers.counting(KEYS.size());
        }
    }

    private static Comparison storm(Lab lab, Effort effort) throws Exception {
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        String prefix = "storm-" + UUID.randomUUID() + "-";
        AtomicInteger calls = new AtomicInteger();
        return againstFresh(
                lab,
                effort,
                Workload.calling(
                        "hapax",
                        STORM,
                        operations::close,
                        () -> operations.waiting(prefix + calls.getAndIncrement() / STORM)));
    }

    private static Comparison zipf(Lab lab, Effort effort) throws Exception {
        Operations operations = Operations.cached(lab, Figures.POOL);
        String prefix = "zipf-" + UUID.randomUUID() + "-";
        return againstFresh(
                lab,
                effort,
                Workload.calling("hapax", MANY, operations::close, () -> operations.waiting(prefix + zipf(100_000))));
    }

    private static Comparison againstFresh(Lab lab, Effort effort, Workload ours) {
        return Comparison.withFastestPool(ours, effort, MANY, pool -> FreshFigures.floor(lab, MANY, pool));
    }

    /** Ranks with the frequency of 1/rank, near enough: the logarithm of the rank is uniform. */
    private static int zipf(int ranks) {
        return (int) Math.exp(ThreadLocalRandom.current().nextDouble() * Math.log(ranks));
    }

    private static Comparison mixed(Lab lab, Effort effort) throws Exception {
        Operations operations = Operations.on(lab, Figures.POOL, Lab.WARM);
        prepare(operations);
        Workload ours = Workload.calling("hapax", MANY, operations::close, () -> {
            if (isRetry()) {
                operations.replay(any(KEYS));
            } else {
                operations.fresh();
            }
        });
        return Comparison.withFastestPool(ours, effort, MANY, pool -> mixedFloor(lab, pool));
    }

    private static Workload mixedFloor(Lab lab, int pool) throws Exception {
        Floor floor = new Floor(lab, pool);
        List<UUID> ids = floor.some(KEYS.size());
        return Workload.calling("floor, pool of " + pool, MANY, floor::close, () -> {
            if (isRetry()) {
                floor.read(any(ids));
            } else {
                floor.fresh();
            }
        });
    }

    private static boolean isRetry() {
        return ThreadLocalRandom.current().nextInt(5) == 0;
    }

    private static <T> T any(List<T> list) {
        return list.get(ThreadLocalRandom.current().nextInt(list.size()));
    }
}
