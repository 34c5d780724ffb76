package dev.hapax.http;

import java.util.List;
import java.util.Optional;

/** Where the key of a request comes from. Immutable. */
public sealed interface KeySource {

    /**
     * The key, if the request has one.
     *
     * @throws ProblemException when there is something, but not a key
     */
    Optional<String> keyOf(HttpRequest request, Match match);

    /**
     * A header of the IETF draft's form, a structured-field String: {@code "k"}, without parameters, sent once.
     *
     * <p>Lenient, {@code "k"} and {@code k} are the same key. A key without quotes holds no quote, comma or semicolon:
     * with one of them it could as well be half a string, two headers that a proxy has joined, or a key with a
     * parameter.
     *
     * @param strict whether only the draft's form is accepted
     */
    record Header(String name, boolean strict) implements KeySource {
        public static final Header DEFAULT = new Header("Idempotency-Key", false);

        public Header {
            Tokens.requireFieldName(name);
        }

        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            return KeyHeader.read(request.headers(), this);
        }
    }

    /**
     * A member of a JSON body, a string or a number; {@code 1} and {@code 1.0} are the same key. Absent where the body
     * is empty, or the member missing or {@code null}.
     */
    record PayloadField(JsonPointer pointer) implements KeySource {
        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            return Keys.of(this, new Content(request), match);
        }
    }

    /**
     * Values of path and payload that already identify the operation, such as an order's number. Absent where one of
     * them is.
     *
     * <p>The key is readable where that fits: the values one after the other, with slashes between them; otherwise a
     * hash of them.
     *
     * @param pathValues names in the route's pattern
     * @param members strings or numbers in the body
     */
    record Natural(List<String> pathValues, List<JsonPointer> members) implements KeySource {
        /** @throws IllegalArgumentException when there is nothing in it */
        public Natural {
            pathValues = List.copyOf(pathValues);
            members = List.copyOf(members);
            if (pathValues.isEmpty() && members.isEmpty()) {
                throw new IllegalArgumentException("a natural key needs at least one value");
            }
        }

        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            return Keys.of(this, new Content(request), match);
        }
    }

    /**
     * A hash of the request: its method, path, query and body. The scope's {@code Policy.window} says for how long the
     * same request is a retry.
     *
     * <p>Where only some members count, the fingerprint covers only them too, unless the route's
     * {@link FingerprintRule} names others: what does not make another operation must not make another request.
     *
     * @param members what of a JSON body counts; empty for all of it
     * @param intentHeader a header whose value sets a deliberate repeat apart from a retry
     * @param secret the key of the hash; empty for none
     */
    @SuppressWarnings("ArrayRecordComponent")
    record BodyHash(List<JsonPointer> members, String intentHeader, byte[] secret) implements KeySource {
        public static final String DEFAULT_INTENT_HEADER = "Idempotency-Intent";

        public BodyHash {
            members = List.copyOf(members);
            Tokens.requireFieldName(intentHeader);
            secret = secret.clone();
        }

        @Override
        public Optional<String> keyOf(HttpRequest request, Match match) {
            return Keys.of(this, new Content(request), match);
        }

        @Override
        public String toString() {
            return "BodyHash[members=%s, intentHeader=%s]".formatted(members, intentHeader);
        }
    }
}
