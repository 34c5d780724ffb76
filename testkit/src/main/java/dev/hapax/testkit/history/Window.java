package dev.hapax.testkit.history;

/**
 * The time of one call to the store, in {@link System#nanoTime} of one host: it took effect at some instant between the
 * two, and nobody knows which.
 *
 * @param calledAt before the call was made, the first one if it was sent again
 * @param answeredAt after its answer was had
 */
public record Window(long calledAt, long answeredAt) {

    public Window {
        if (answeredAt < calledAt) {
            throw new IllegalArgumentException("answered at " + answeredAt + ", before the call at " + calledAt);
        }
    }

    /** A window from an earlier instant to now. */
    public static Window since(long calledAt) {
        return new Window(calledAt, System.nanoTime());
    }

    /** Whether every instant of this window is before every instant of the other. */
    boolean surelyBefore(Window other) {
        return answeredAt < other.calledAt;
    }
}
