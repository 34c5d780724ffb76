package dev.hapax.testkit.history;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** One attempt runs the handler once. */
final class RanOnce implements Rule {

    @Override
    public void check(OperationHistory history, Consumer<Violation> found) {
        Map<Integer, Event.Ran> runs = new HashMap<>();
        for (Event.Ran run : history.all(Event.Ran.class)) {
            Event.Ran earlier = runs.putIfAbsent(run.attempt(), run);
            if (earlier != null) {
                found.accept(Violation.of(
                        Violation.Kind.RAN_TWICE, "the handler ran twice for attempt " + run.attempt(), earlier, run));
            }
        }
    }
}
