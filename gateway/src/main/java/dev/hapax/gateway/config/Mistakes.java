package dev.hapax.gateway.config;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects all mistakes, since nobody likes to hear of them one by one. Not safe for use by many threads. */
final class Mistakes {
    private static final Comparator<Mistake> FROM_TOP_TO_BOTTOM = Comparator.comparing(
                    Mistake::at, Comparator.comparingInt(Origin::line).thenComparingInt(Origin::column))
            .thenComparing(mistake -> mistake.at().toString());

    /** What {@code defaults} says wrong is wrong in every route, and told once. */
    private final Set<Mistake> found = new LinkedHashSet<>();

    void add(Origin at, String what) {
        found.add(new Mistake(at, what));
    }

    int count() {
        return found.size();
    }

    List<Mistake> sorted() {
        return found.stream().sorted(FROM_TOP_TO_BOTTOM).toList();
    }

    InvalidConfigurationException thrown() {
        return new InvalidConfigurationException(sorted());
    }
}
