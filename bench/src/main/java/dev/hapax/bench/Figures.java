package dev.hapax.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

/** All figures, in the order in which they are measured. To add one, add it to {@link #ALL}. */
final class Figures {
    private static final int POOL = 8;
    private static final int HANDLER_MS = 20;

    static final List<Figure> ALL = List.of(
            new Figure(
                    "fresh-1-caller",
                    "fresh operations, 1 caller",
                    "hand-written JDBC, one statement per commit",
                    OptionalDouble.of(0.9),
                    Figures::freshOneCaller),
            new Figure(
                    "fresh-128-callers",
                    "fresh operations, 128 callers, pool of 8",
                    "hand-written JDBC with the pool size that suits it best",
                    OptionalDouble.of(2.5),
                    Figures::freshManyCallers),
            new Figure(
                    "cold-analysed-empty",
                    "full load on a new table that was analysed while empty",
                    "the same load on a table in use",
                    OptionalDouble.of(0.9),
                    (lab, effort) -> Sides.of(new ColdStart(lab, true), new ColdStart(lab, false))),
            new Figure(
                    "replay-32-callers",
                    "replays of finished operations, 32 callers, pool of 8",
                    "one SELECT by id each",
                    OptionalDouble.empty(),
                    Figures::replay),
            new Figure(
                    "pool-of-8-20ms-handler",
                    "512 callers whose handler takes 20 ms, pool of 8",
                    "512 callers that only sleep (8 connections held meanwhile would allow 400/s)",
                    OptionalDouble.empty(),
                    Figures::slowHandler),
            new Figure(
                    "transactional-8",
                    "transactional mode with one business insert, 8 callers",
                    "the business transaction alone",
                    OptionalDouble.empty(),
                    Figures::transactional));

    private Figures() {}

    private static Workload freshOurs(Lab lab, int callers) throws SQLException {
        Operations operations = new Operations(lab, POOL, Lab.WARM);
        return new Lasting("hapax", callers, operations::fresh, operations::close);
    }

    private static Workload freshFloor(Lab lab, int callers, int pool) throws SQLException {
        Floor floor = new Floor(lab, pool);
        return new Lasting("floor, pool of " + pool, callers, floor::fresh, floor::close);
    }

    /** One caller alone takes minutes to get its code compiled, on either side: a few of each do that first. */
    private static Sides freshOneCaller(Lab lab, Effort effort) throws Exception {
        try (Sides few = Sides.of(freshOurs(lab, 4), freshFloor(lab, 4, POOL))) {
            new WarmUp(effort).run(few);
        }
        return Sides.of(freshOurs(lab, 1), freshFloor(lab, 1, POOL)).inTurns(10);
    }

    private static Sides freshManyCallers(Lab lab, Effort effort) throws SQLException {
        List<Workload> floors = new ArrayList<>();
        for (int pool : effort.floorPools()) {
            floors.add(freshFloor(lab, 128, pool));
        }
        return new Sides(freshOurs(lab, 128), floors, 1);
    }

    private static Sides replay(Lab lab, Effort effort) throws Exception {
        Operations operations = new Operations(lab, POOL, Lab.WARM);
        Floor floor = new Floor(lab, POOL);
        List<String> keys =
                IntStream.range(0, 2_000).mapToObj(i -> "replayed-" + i).toList();
        Queue<String> open = new ConcurrentLinkedQueue<>(keys);
        Load.counting(32, keys.size()).run(() -> operations.prepare(open.remove()));
        List<UUID> ids = floor.some(keys.size());
        return Sides.of(
                new Lasting("hapax", 32, () -> operations.replay(keys), operations::close),
                new Lasting("select", 32, () -> floor.read(ids), floor::close));
    }

    private static Sides slowHandler(Lab lab, Effort effort) throws SQLException {
        Operations operations = new Operations(lab, POOL, Lab.WARM);
        return Sides.of(
                new Lasting(
                        "hapax",
                        512,
                        () -> operations.fresh(lease -> {
                            Thread.sleep(HANDLER_MS);
                            return Operations.handle();
                        }),
                        operations::close),
                new Lasting("sleep", 512, () -> Thread.sleep(HANDLER_MS), () -> {}));
    }

    private static Sides transactional(Lab lab, Effort effort) throws SQLException {
        Operations operations = new Operations(lab, POOL, Lab.WARM);
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < POOL; i++) {
            connections.add(operations.connection());
        }
        return Sides.of(
                new Each("hapax", POOL, caller -> () -> operations.transactional(connections.get(caller)), () -> {
                    for (Connection connection : connections) {
                        connection.close();
                    }
                    operations.close();
                }),
                new Each("bare", POOL, caller -> () -> Operations.business(connections.get(caller)), () -> {}));
    }

    private interface Closing {
        void close() throws SQLException;
    }

    /** Callers that all do the same, for as long as a round lasts. */
    private record Lasting(String name, int callers, Load.Step step, Closing closing) implements Workload {
        @Override
        public double round(Effort effort) throws Exception {
            return Load.lasting(callers, effort.round()).run(step);
        }

        @Override
        public void close() throws SQLException {
            closing.close();
        }
    }

    /** Callers that each have something of their own, for as long as a round lasts. */
    private record Each(String name, int callers, Load.Steps steps, Closing closing) implements Workload {
        @Override
        public double round(Effort effort) throws Exception {
            return Load.lasting(callers, effort.round()).runEach(steps);
        }

        @Override
        public void close() throws SQLException {
            closing.close();
        }
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
            try (Operations operations = new Operations(lab, POOL, schema)) {
                return Load.counting(CALLERS, effort.bounded()).run(operations::fresh);
            }
        }
    }
}
