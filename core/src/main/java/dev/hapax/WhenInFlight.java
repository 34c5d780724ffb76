package dev.hapax;

import dev.hapax.store.Durations;
import java.time.Duration;

/**
 * What a call gets when another one runs the same operation.
 *
 * @param mode what it does
 * @param atMost how long it waits; zero unless it does
 */
public record WhenInFlight(Mode mode, Duration atMost) {

    public enum Mode {
        /** {@link Outcome.InProgress} at once. */
        REJECT,
        /** Wait for the result, then {@link Outcome.InProgress}. */
        WAIT,
        /**
         * {@link Outcome.InProgress} at once; an adapter answers that the operation is accepted and where to ask for
         * it.
         */
        ACCEPT
    }

    public static final WhenInFlight REJECT = new WhenInFlight(Mode.REJECT, Duration.ZERO);
    public static final WhenInFlight ACCEPT = new WhenInFlight(Mode.ACCEPT, Duration.ZERO);

    public WhenInFlight {
        if (mode == Mode.WAIT) {
            Durations.requirePositive(atMost, "the longest wait");
        } else if (!atMost.isZero()) {
            throw new IllegalArgumentException(mode + " does not wait");
        }
    }

    public static WhenInFlight waitAtMost(Duration duration) {
        return new WhenInFlight(Mode.WAIT, duration);
    }
}
