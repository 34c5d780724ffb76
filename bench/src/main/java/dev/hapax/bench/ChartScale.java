package dev.hapax.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic axis of ratios: twice as fast is as far from 1 as half as fast.
 *
 * @param least where it begins, a round number of at most 1
 * @param most where it ends, a round number of at least 1
 * @param from the pixel at which it begins
 * @param to the pixel at which it ends
 */
record ChartScale(double least, double most, double from, double to) {
    private static final int[] STEPS = {1, 2, 5};
    private static final double SLACK = 1e-9;
    private static final int MOST_TICKS = 10;

    /** An axis on which all of these have a place, and 1 too. */
    static ChartScale over(List<Double> ratios, double from, double to) {
        double least = 0.5;
        double most = 2;
        for (double ratio : ratios) {
            least = Math.min(least, roundDown(ratio));
            most = Math.max(most, 1 / roundDown(1 / ratio));
        }
        return new ChartScale(least, most, from, to);
    }

    /** The next lower of 1, 2 and 5 times a power of ten. */
    private static double roundDown(double ratio) {
        double power = Math.pow(10, Math.floor(Math.log10(ratio) + SLACK));
        double best = power;
        for (int step : STEPS) {
            best = step * power <= ratio * (1 + SLACK) ? step * power : best;
        }
        return best;
    }

    double at(double ratio) {
        return from + (to - from) * (Math.log(ratio) - Math.log(least)) / (Math.log(most) - Math.log(least));
    }

    /** Round numbers to label, as many as there is room for. */
    List<Double> ticks() {
        List<Double> ticks = ticks(STEPS);
        if (ticks.size() > MOST_TICKS) {
            ticks = ticks(new int[] {1, 3});
        }
        return ticks.size() > MOST_TICKS ? ticks(new int[] {1}) : ticks;
    }

    private List<Double> ticks(int[] steps) {
        List<Double> ticks = new ArrayList<>();
        for (int power = (int) Math.floor(Math.log10(least) + SLACK); ; power++) {
            for (int step : steps) {
                double tick = step * Math.pow(10, power);
                if (tick > most * (1 + SLACK)) {
                    return ticks;
                } else if (tick >= least * (1 - SLACK)) {
                    ticks.add(tick);
                }
            }
        }
    }
}
