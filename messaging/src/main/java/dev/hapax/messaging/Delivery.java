package dev.hapax.messaging;

import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * A message, and how it is to be handled.
 *
 * @param executor where the handler runs; if it refuses, the claim is released
 */
public record Delivery<M>(M message, Executor executor, Turn turn) {
    public Delivery {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(turn, "turn");
    }

    public Delivery(M message, Executor executor) {
        this(message, executor, Turn.FREE);
    }
}
