package dev.hapax.http;

import java.util.List;
import java.util.Optional;

/** Where the key of a request comes from. */
public sealed interface KeySource {

    /**
     * The key, if the request has one.
     *
     * @throws ProblemException when there is something, but not a key
     */
    Optional<String> keyOf(HttpRequest request, Match match);

    /**
     * A header of the IETF draft's form, a structured-field String.
     *
     * @param strict whether only that form is accepted; otherwise {@code "k"} and {@code k} are the same key
     */
    record Header(String name, boolean strict) implements KeySource {
        public static final Header DEFAULT = new Header("Idempotency-Key", false);

        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            return KeyHeader.read(request.headers(), this);
        }
    }

    /** A member of a JSON body. */
    record PayloadField(JsonPointer pointer) implements KeySource {
        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            throw new UnsupportedOperationException();
        }
    }

    /** Values of path and payload that already identify the operation, such as an order's number. */
    record Natural(List<String> pathValues, List<JsonPointer> members) implements KeySource {
        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            throw new UnsupportedOperationException();
        }
    }

    /**
     * A keyed hash of the request's body. The scope's {@code Policy.window} says for how long the same body is a retry.
     *
     * @param members what of a JSON body counts; empty for all of it
     * @param intentHeader a header whose value sets a deliberate repeat apart from a retry
     * @param secret the key of the hash; empty for none
     */
    @SuppressWarnings("ArrayRecordComponent")
    record BodyHash(List<JsonPointer> members, String intentHeader, byte[] secret) implements KeySource {
        public static final String DEFAULT_INTENT_HEADER = "Idempotency-Intent";

        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            throw new UnsupportedOperationException();
        }
    }
}
