package dev.hapax.http;

import java.util.List;

/**
 * What of a request must be the same in a retry: method, path, query, content type, and of its body what is set here.
 *
 * <p>JSON is compared by what it says: the order of members, white space, escapes and the notation of numbers do not
 * matter. {@code multipart} bodies are compared part by part, without the boundary between them. Anything else, and
 * what claims to be JSON or multipart and is not, is compared byte by byte.
 *
 * @param members the members of a JSON body that count; empty for the whole body
 * @param secret the key of the digest; empty for a plain one
 */
@SuppressWarnings("ArrayRecordComponent")
public record FingerprintRule(List<JsonPointer> members, byte[] secret) {
    public static final FingerprintRule WHOLE = new FingerprintRule(List.of(), new byte[0]);

    public FingerprintRule {
        members = List.copyOf(members);
        secret = secret.clone();
    }

    @Override
    public String toString() {
        return "FingerprintRule[members=%s]".formatted(members);
    }
}
