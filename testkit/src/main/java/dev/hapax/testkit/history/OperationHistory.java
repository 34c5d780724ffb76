package dev.hapax.testkit.history;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The events of one operation, in the order in which they began. */
record OperationHistory(String operation, List<Event.OfOperation> events) {

    <E extends Event.OfOperation> List<E> all(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    <E extends Event.OfToken> Map<String, List<E>> byToken(Class<E> type) {
        return all(type).stream().collect(Collectors.groupingBy(Event.OfToken::token));
    }

    boolean has(Class<? extends Event.OfOperation> type) {
        return events.stream().anyMatch(type::isInstance);
    }
}
