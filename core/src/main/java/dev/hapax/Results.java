package dev.hapax;

import dev.hapax.codec.NotKeptException;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.State;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Between what handlers return and what is stored of it. A result that cannot be kept is a result all the same. */
final class Results {
    private static final Logger log = LoggerFactory.getLogger(Results.class);

    private final Listeners listeners;

    Results(Listeners listeners) {
        this.listeners = listeners;
    }

    <T> Result encode(Request<T> request, HeldLease lease, T value) {
        Payload payload;
        try {
            payload = Objects.requireNonNull(request.codec().encode(value), "the codec made nothing of it");
        } catch (NotKeptException tooMuch) {
            return notStored(request, lease, tooMuch.code(), String.valueOf(tooMuch.getMessage()));
        } catch (Throwable broken) {
            return notStored(request, lease, 0, "its codec failed: " + TerminalFailure.describe(broken));
        }
        int length = payload.body().length;
        int most = request.policy().maxBody();
        return length <= most
                ? Result.completed(payload)
                : notStored(request, lease, payload.code(), "it has %d bytes, %d are kept".formatted(length, most));
    }

    private Result notStored(Request<?> request, HeldLease lease, int code, String why) {
        log.warn("The result of operation {} is not kept: {}", request.id(), why);
        listeners.tell(l -> l.resultNotStored(request.key(), lease.attempt(), why));
        return Result.notStored(code, why);
    }

    /** What cannot be encoded is stored as its code and message. */
    Result encode(Request<?> request, TerminalFailure failure) {
        Payload payload = null;
        try {
            payload = request.policy().failureCodecs().encode(failure);
        } catch (Throwable broken) {
            log.warn("The failure of operation {} is kept without its value", request.id(), broken);
        }
        try {
            return Result.failed(failure.code(), failure.getMessage(), payload);
        } catch (RuntimeException | Error broken) {
            return Result.failed(0, failure.getClass().getName(), null);
        }
    }

    /** A failure that cannot be decoded is given as its code and message. */
    static TerminalFailure failureOf(Request<?> request, Result result) {
        try {
            TerminalFailure failure = request.policy().failureCodecs().decode(result.payload());
            if (failure != null) {
                return failure;
            }
        } catch (Exception | StackOverflowError broken) {
            log.warn("The stored failure of operation {} cannot be decoded", request.id(), broken);
        }
        return new TerminalFailure(result.code(), String.valueOf(result.error()));
    }

    /** @throws ResultNotReadableException when the codec cannot make a value of what is stored */
    static <T> Ending<T> decode(Request<T> request, Result result) {
        if (result.state() == State.FAILED) {
            return Ending.failure(failureOf(request, result));
        }
        Payload payload = result.payload();
        if (payload == null) {
            String why = String.valueOf(result.error());
            return Ending.notStored(() -> new ResultNotStoredException(request.id(), result.code(), why));
        }
        try {
            return Ending.value(request.codec().decode(payload));
        } catch (Exception | StackOverflowError broken) {
            throw new ResultNotReadableException(request.id(), broken);
        }
    }
}
