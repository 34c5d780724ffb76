package dev.hapax.bench;

import dev.hapax.bench.Measured.Spread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Measures a figure: warms all sides up, then lets them take turns. */
final class Comparison {
    private final Lab lab;
    private final Effort effort;
    private final Progress progress;

    Comparison(Lab lab, Effort effort, Progress progress) {
        this.lab = lab;
        this.effort = effort;
        this.progress = progress;
    }

    private record Rates(Workload workload, List<Double> perSecond) {
        double median() {
            return Spread.of(perSecond).median();
        }

        String latest() {
            return "%s %s/s".formatted(workload.name(), Report.rate(perSecond.get(perSecond.size() - 1)));
        }
    }

    Measured measure(Figure figure) throws Exception {
        progress.begin(figure);
        try (Sides sides = figure.sides().open(lab, effort)) {
            progress.say("warming up until the compiler rests");
            double compiling = new WarmUp(effort).run(sides);
            progress.say("compiling still takes %.0f %% of a processor".formatted(100 * compiling));
            List<Rates> all = sides.all().stream()
                    .map(it -> new Rates(it, new ArrayList<>()))
                    .toList();
            takeTurns(all, sides.turns());
            Rates best = all.stream()
                    .skip(1)
                    .max(Comparator.comparingDouble(Rates::median))
                    .orElseThrow();
            return new Measured(
                    figure,
                    all.get(0).perSecond(),
                    best.perSecond(),
                    best.workload().name());
        }
    }

    private void takeTurns(List<Rates> all, int turns) throws Exception {
        for (int round = 1; round <= effort.rounds(); round++) {
            double[] sums = new double[all.size()];
            for (int turn = 0; turn < turns; turn++) {
                for (int i = 0; i < sums.length; i++) {
                    int side = turn % 2 == 0 ? i : sums.length - 1 - i; // nobody always comes first
                    sums[side] += all.get(side).workload().round(effort.dividedBy(turns));
                }
            }
            for (int i = 0; i < sums.length; i++) {
                all.get(i).perSecond().add(sums[i] / turns);
            }
            String latest = all.stream().map(Rates::latest).collect(Collectors.joining(", "));
            progress.say("round %d of %d: %s".formatted(round, effort.rounds(), latest));
        }
    }
}
