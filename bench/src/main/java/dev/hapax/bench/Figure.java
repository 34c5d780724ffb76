package dev.hapax.bench;

import java.util.OptionalDouble;

/**
 * A ratio to be measured: Hapax's rate over that of something it is fair to be compared with.
 *
 * @param name what it is called in tables and in JSON
 * @param ours what Hapax does
 * @param theirs what it is compared with
 * @param bar what the ratio should at least be; empty where the figure only informs
 * @param sides opens both sides
 */
record Figure(String name, String ours, String theirs, OptionalDouble bar, Sides.Opening sides) {}
