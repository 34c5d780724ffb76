package dev.hapax.bench;

import java.util.ArrayList;
import java.util.List;

/** What one side of a comparison came to, turn by turn. */
final class Turns {
    private final Workload workload;
    private final List<Turn> kept = new ArrayList<>();

    /**
     * One turn.
     *
     * @param operations how many there were, about, those before and after the time that counts among them
     */
    record Turn(double rate, double operations, Processors spent) {}

    Turns(Workload workload) {
        this.workload = workload;
    }

    Turn take(Effort effort) throws Exception {
        Processors before = Processors.now();
        long began = System.nanoTime();
        double rate = workload.round(effort);
        double seconds = (System.nanoTime() - began) / 1e9;
        return new Turn(rate, rate * seconds, Processors.now().since(before));
    }

    void keep(Turn turn) {
        kept.add(turn);
    }

    String name() {
        return workload.name();
    }

    List<Double> rates() {
        return kept.stream().map(Turn::rate).toList();
    }

    String told(Turn turn, Measured.Unit unit) {
        return "%s %s".formatted(name(), unit.tell(turn.rate()));
    }

    Processors perOperation() {
        double operations = kept.stream().mapToDouble(Turn::operations).sum();
        return kept.stream()
                .map(Turn::spent)
                .reduce(Processors.NONE, Processors::plus)
                .per(operations);
    }
}
