package dev.hapax.bench;

import java.time.Duration;

/** One side of a comparison of latencies: a load that can be run turn after turn. */
interface LatencyLoad extends AutoCloseable {
    /** @param counted how long the part of the turn lasts that counts */
    LatencyTurn run(Duration counted) throws Exception;

    @Override
    void close() throws Exception;

    /** So many callers, each of which begins again as soon as its operation has ended. */
    static LatencyLoad closedLoop(int callers, FreshOperations operations) throws Exception {
        Callers all = Callers.all(callers, operations::fresh);
        return new LatencyLoad() {
            @Override
            public LatencyTurn run(Duration counted) throws Exception {
                return LatencyTurn.of(all.lasting(counted));
            }

            @Override
            public void close() throws Exception {
                all.close();
                operations.close();
            }
        };
    }

    /** Operations that arrive at a fixed rate, of which so many can be under way at a time. */
    static LatencyLoad openLoop(int perSecond, int threads, FreshOperations operations) {
        OpenLoop loop = new OpenLoop(threads, operations::fresh);
        return new LatencyLoad() {
            @Override
            public LatencyTurn run(Duration counted) throws Exception {
                return loop.run(ArrivalSchedule.of(perSecond, counted));
            }

            @Override
            public void close() throws Exception {
                loop.close();
                operations.close();
            }
        };
    }
}
