package dev.hapax;

import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How an operation ended: with a value, with a failure that is final, or with a value that was not kept. */
public final class Ending<T> {
    private final Supplier<T> value;
    private final @Nullable TerminalFailure failure;

    private Ending(Supplier<T> value, @Nullable TerminalFailure failure) {
        this.value = value;
        this.failure = failure;
    }

    static <T> Ending<T> value(T value) {
        return new Ending<>(() -> value, null);
    }

    static <T> Ending<T> failure(TerminalFailure failure) {
        return new Ending<>(
                () -> {
                    throw failure;
                },
                failure);
    }

    static <T> Ending<T> notStored(Supplier<ResultNotStoredException> why) {
        return new Ending<>(
                () -> {
                    throw why.get();
                },
                null);
    }

    /**
     * The handler's result.
     *
     * @throws TerminalFailure when the operation failed for good
     * @throws ResultNotStoredException when this is a replay and the result was not kept
     */
    public T value() {
        return value.get();
    }

    public Optional<TerminalFailure> failure() {
        return Optional.ofNullable(failure);
    }
}
