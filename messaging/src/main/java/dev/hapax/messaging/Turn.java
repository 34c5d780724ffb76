package dev.hapax.messaging;

/**
 * How an adapter keeps messages in order: asked before a handler begins, told when it has returned. Called on the
 * thread where it happens; must not block.
 */
public interface Turn {

    /** For messages without an order. */
    Turn FREE = new Turn() {};

    /** Whether the handler may still begin. If not, the claim is released and nothing runs. */
    default boolean mayBegin() {
        return true;
    }

    /**
     * The handler has returned; how it ended is about to be stored.
     *
     * @param forGood whether it need not run again, if storing succeeds
     */
    default void returned(boolean forGood) {}
}
