package dev.hapax.testkit.history;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An operation has one result: it is stored once, everybody sees it, and nobody sees it before it was sent. */
final class OneResult implements Rule {

    @Override
    public void check(OperationHistory history, Consumer<Violation> found) {
        checkSame(history, found);
        checkExplained(history, found);
    }

    private static void checkSame(OperationHistory history, Consumer<Violation> found) {
        Event.@Nullable OfOperation first = null;
        Set<String> seen = new HashSet<>();
        for (Event.OfOperation event : history.events()) {
            String result = resultOf(event);
            if (result == null || !seen.add(result)) {
                continue;
            }
            if (first == null) {
                first = event;
            } else {
                found.accept(Violation.of(
                        Violation.Kind.TWO_RESULTS,
                        "%s and %s are both results of it".formatted(resultOf(first), result),
                        first,
                        event));
            }
        }
    }

    private static @Nullable String resultOf(Event event) {
        if (event instanceof Event.Completed completed) {
            return completed.result();
        }
        return event instanceof Event.Answered answered ? answered.result() : null;
    }

    private static void checkExplained(OperationHistory history, Consumer<Violation> found) {
        Map<String, Long> firstSent = new HashMap<>();
        for (Event.Completing sent : history.all(Event.Completing.class)) {
            firstSent.merge(sent.result(), sent.at(), Math::min);
        }
        for (Event.Completed stored : history.all(Event.Completed.class)) {
            firstSent.merge(stored.result(), stored.startedAt(), Math::min);
        }
        for (Event.Answered answer : history.all(Event.Answered.class)) {
            if (answer.at() < firstSent.getOrDefault(answer.result(), Long.MAX_VALUE)) {
                found.accept(Violation.of(
                        Violation.Kind.UNEXPLAINED_ANSWER,
                        "a caller saw %s at %d, and nobody had tried to store it by then"
                                .formatted(answer.result(), answer.at()),
                        answer));
            }
        }
    }
}
