package dev.hapax.bench;

import java.util.ArrayList;
import java.util.List;

/** What one side of a comparison came to, turn by turn. */
final class Turns {
    private final Workload workload;
    private final List<Double> rates = new ArrayList<>();
    private double operations;
    private Processors spent = Processors.NONE;

    Turns(Workload workload) {
        this.workload = workload;
    }

    void take(Effort effort) throws Exception {
        Processors before = Processors.now();
        long began = System.nanoTime();
        double rate = workload.round(effort);
        double seconds = (System.nanoTime() - began) / 1e9;
        rates.add(rate);
        operations += rate * seconds;
        spent = spent.plus(Processors.now().since(before));
    }

    String name() {
        return workload.name();
    }

    List<Double> rates() {
        return rates;
    }

    String last() {
        return "%s %s/s".formatted(name(), Report.rate(rates.get(rates.size() - 1)));
    }

    Processors perOperation() {
        return spent.per(operations);
    }
}
