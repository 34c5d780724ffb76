package dev.hapax.bench;

import java.util.OptionalDouble;

/**
 * A ratio to be measured: how much Hapax does over what something does that it is fair to be compared with.
 *
 * @param name what it is called in tables and in JSON
 * @param ours what Hapax does
 * @param theirs what it is compared with
 * @param bar what the ratio should at least be; empty where the figure only informs
 * @param measuring how it is measured
 */
record Figure(String name, String ours, String theirs, OptionalDouble bar, Measuring measuring) {

    /** How a figure is measured. */
    interface Measuring {
        Measured measure(Figure figure, Bench bench) throws Exception;
    }

    static Figure of(String name, String ours, String theirs, double bar, Measuring measuring) {
        return new Figure(name, ours, theirs, OptionalDouble.of(bar), measuring);
    }

    /** One that informs, without a bar. */
    static Figure informing(String name, String ours, String theirs, Measuring measuring) {
        return new Figure(name, ours, theirs, OptionalDouble.empty(), measuring);
    }
}
