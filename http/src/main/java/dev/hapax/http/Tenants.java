package dev.hapax.http;

import java.util.List;

/**
 * The names of tenants: their kind, then {@code :} and what they are called, or {@code #} and a hash. So no tenant of
 * one kind is one of another kind, and nobody can call himself what another one's hash is.
 */
final class Tenants {
    private static final int MAX_LENGTH = 255;

    private Tenants() {}

    static String named(String kind, String name) {
        String tenant = kind + ':' + name;
        return tenant.length() <= MAX_LENGTH && isText(tenant) ? tenant : hashed(kind, List.of(name));
    }

    static String hashed(String kind, List<String> parts) {
        return hashed(kind, new byte[0], parts);
    }

    /** @param secret the key of the hash; empty for none */
    static String hashed(String kind, byte[] secret, List<String> parts) {
        Hashing hash = Hashing.with(secret);
        parts.forEach(hash::add);
        return kind + '#' + hash.hex();
    }

    private static boolean isText(String tenant) {
        return tenant.codePoints()
                .noneMatch(c ->
                        Character.isISOControl(c) || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE));
    }
}
