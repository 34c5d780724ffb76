package dev.hapax.bench;

import java.util.Arrays;
import java.util.Locale;

/**
 * The latencies of one turn of one side.
 *
 * @param perSecond how many operations were completed per second
 * @param offered how many arrived per second; 0 for a closed loop, whose callers wait for one to end before the next
 */
record LatencyTurn(double p50Millis, double p99Millis, double perSecond, double offered) {
    /** An operation of an open loop that was never completed. */
    static final long NOT_COMPLETED = Long.MAX_VALUE;

    private static final double SUSTAINED = 0.97;

    /**
     * From when each operation of an open loop ended.
     *
     * @param ended nanoseconds after the beginning of the turn, by arrival, or {@link #NOT_COMPLETED}
     */
    static LatencyTurn of(ArrivalSchedule schedule, long[] ended) {
        long[] latencies = new long[ended.length];
        int counted = 0;
        int completed = 0;
        for (int arrival = 0; arrival < ended.length; arrival++) {
            long due = schedule.due(arrival);
            if (schedule.counts(due)) {
                latencies[counted++] = ended[arrival] == NOT_COMPLETED ? NOT_COMPLETED : ended[arrival] - due;
            }
            if (schedule.counts(ended[arrival])) {
                completed++;
            }
        }
        long[] sorted = Arrays.copyOf(latencies, counted);
        Arrays.sort(sorted);
        double seconds = schedule.counted().toNanos() / 1e9;
        return new LatencyTurn(
                millisAt(sorted, 0.50), millisAt(sorted, 0.99), completed / seconds, schedule.perSecond());
    }

    /** From a closed loop. */
    static LatencyTurn of(Callers.Round round) {
        Histogram latencies = round.latencies();
        double perSecond = latencies.count() == 0 ? 0 : round.perSecond();
        return new LatencyTurn(latencies.millisAt(0.50), latencies.millisAt(0.99), perSecond, 0);
    }

    /** The smallest latency that this share of all do not exceed. */
    static double millisAt(long[] sortedNanos, double share) {
        int rank = (int) Math.ceil(share * sortedNanos.length);
        return sortedNanos[Math.max(1, rank) - 1] / 1e6;
    }

    /**
     * Whether as many operations were completed as arrived. Otherwise the backlog grows for as long as the turn lasts,
     * and the latencies tell the length of the turn.
     */
    boolean isSustained() {
        return perSecond > 0 && perSecond >= SUSTAINED * offered;
    }

    /** The latencies, unless they say nothing. */
    String describe() {
        String rate = Report.rate(perSecond) + "/s";
        return isSustained()
                ? String.format(Locale.ROOT, "%s, p50 %.2f ms, p99 %.2f ms", rate, p50Millis, p99Millis)
                : "only " + rate;
    }

    boolean isBetterThan(LatencyTurn other) {
        if (isSustained() && other.isSustained()) {
            return p99Millis < other.p99Millis;
        }
        return isSustained() || (!other.isSustained() && perSecond > other.perSecond);
    }
}
