package dev.hapax.http;

import java.util.List;

/**
 * What of a request must be the same in a retry.
 *
 * @param members the members of a JSON body that count; empty for the whole body
 * @param secret the key of the digest; empty for a plain one
 */
@SuppressWarnings("ArrayRecordComponent")
public record FingerprintRule(List<JsonPointer> members, byte[] secret) {
    public static final FingerprintRule WHOLE = new FingerprintRule(List.of(), new byte[0]);
}
