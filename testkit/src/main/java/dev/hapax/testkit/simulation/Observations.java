package dev.hapax.testkit.simulation;

import dev.hapax.store.Claim;
import dev.hapax.store.OperationId;
import dev.hapax.testkit.history.Event;
import dev.hapax.testkit.history.History;
import dev.hapax.testkit.history.HistoryChecker;
import dev.hapax.testkit.history.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * What is written down about one simulated run: events for the {@link HistoryChecker}, violations that are plain to
 * see, and, if asked for, a trace for people.
 */
final class Observations {
    private final VirtualTime time;
    private final boolean traced;
    private final List<Event> events = new ArrayList<>();
    private final List<Violation> violations = new ArrayList<>();
    private final List<TraceLine> trace = new ArrayList<>();
    private final Map<UUID, String> tokens = new HashMap<>();
    private final Map<OperationId, String> operations = new LinkedHashMap<>();

    private record TraceLine(String operation, long at, String text) {}

    Observations(VirtualTime time, boolean traced) {
        this.time = time;
        this.traced = traced;
    }

    void name(OperationId id, String key) {
        operations.put(id, key);
    }

    /** The same in every run of a seed, which the token itself is not. */
    String nameOf(UUID token) {
        return tokens.computeIfAbsent(token, any -> "t" + (tokens.size() + 1));
    }

    void record(Event event) {
        events.add(event);
    }

    void violation(Violation.Kind kind, String operation, String sentence) {
        trace(operation, () -> "VIOLATION " + kind + ": " + sentence);
        violations.add(new Violation(kind, operation, sentence, List.of(new Event.GivenUp(operation, time.now()))));
    }

    void trace(OperationId id, Supplier<String> text) {
        trace(operations.getOrDefault(id, id.toString()), text);
    }

    /** @param operation the key, or empty for what concerns all */
    void trace(String operation, Supplier<String> text) {
        if (traced) {
            trace.add(new TraceLine(
                    operation,
                    time.now(),
                    String.format(Locale.ROOT, "%9.3f s  %-5s %s", time.now() / 1e9, keyOf(operation), text.get())));
        }
    }

    static String describe(Claim claim) {
        return claim.fold(
                won -> "won, attempt %d, generation %d".formatted(won.attempt(), won.generation()),
                replay -> "replay of " + replay.result().state(),
                running -> "in progress",
                mismatch -> "mismatch",
                inDoubt -> "in doubt");
    }

    /** Those that were plain to see, and those that the whole history shows. */
    List<Violation> judge(Duration clockError) {
        List<Violation> all = new ArrayList<>(violations);
        all.addAll(HistoryChecker.check(History.of(events), clockError));
        return all;
    }

    /** What happened to the operation, and to all, until it broke a promise. */
    List<String> traceOf(Violation violation) {
        String key = keyOf(violation.operation());
        long until = violation.events().stream().mapToLong(Event::endedAt).max().orElse(Long.MAX_VALUE);
        return trace.stream()
                .filter(line -> line.at() <= until)
                .filter(line ->
                        line.operation().isEmpty() || keyOf(line.operation()).equals(key))
                .map(TraceLine::text)
                .toList();
    }

    List<String> wholeTrace() {
        return trace.stream().map(TraceLine::text).toList();
    }

    /** An operation's name is its key and the number of its life. */
    private static String keyOf(String operation) {
        int life = operation.indexOf('#');
        return life < 0 ? operation : operation.substring(0, life);
    }
}
