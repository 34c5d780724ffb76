package dev.hapax.testkit.simulation;

import dev.hapax.testkit.history.Violation;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The calls of a simulation: each is answered in the end, and its lease is not renewed after that. */
final class PendingCalls {
    private final Observations observations;
    private final Map<Integer, Call> pending = new LinkedHashMap<>();
    private final Map<UUID, Integer> byToken = new HashMap<>();
    private @Nullable Integer beginning;
    private int numbers;

    private record Call(SimulatedInstance instance, String key) {}

    PendingCalls(Observations observations) {
        this.observations = observations;
    }

    /** Begins a call; the claim that it sends at once is its own. */
    int begin(SimulatedInstance instance, String key) {
        int number = ++numbers;
        pending.put(number, new Call(instance, key));
        beginning = number;
        return number;
    }

    void begun() {
        beginning = null;
    }

    void claims(UUID token) {
        if (beginning != null) {
            byToken.putIfAbsent(token, beginning);
        }
    }

    void renews(UUID token) {
        Integer call = byToken.get(token);
        if (call != null && !pending.containsKey(call)) {
            observations.violation(
                    Violation.Kind.RENEWED_AFTER_ITS_CALL,
                    observations.nameOf(token),
                    "its lease was renewed although its caller had been answered");
        }
    }

    void answered(int call) {
        pending.remove(call);
    }

    /** A call whose handler never ends is never answered; its lease is renewed for a while. */
    void hangs(int call) {
        pending.remove(call);
        byToken.values().removeIf(number -> number == call);
    }

    void requireNone() {
        pending.values().stream()
                .filter(call -> !call.instance().isKilled())
                .forEach(call -> observations.violation(
                        Violation.Kind.NEVER_ANSWERED,
                        call.key(),
                        "a caller on %s was never answered"
                                .formatted(call.instance().name())));
    }
}
