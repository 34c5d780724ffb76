package dev.hapax.store;

import dev.hapax.store.InvalidKeyException.Part;
import java.util.Objects;

/**
 * The name of an operation as people know it: whose it is, which family it belongs to, and the caller's own key.
 *
 * @param tenant whose key it is; empty for operations that belong to nobody in particular. Two tenants never see each
 *     other's keys
 * @param scope the operation family, which carries the policy; 1–255 visible ASCII characters
 * @param key the caller's opaque value; 1–255 visible ASCII characters
 */
public record OperationKey(String tenant, String scope, String key) {
    static final int MAX_LENGTH = 255;

    /** @throws InvalidKeyException when a part is too long, empty where it must not be, or holds other characters */
    public OperationKey {
        Objects.requireNonNull(tenant, "tenant (leave it out for operations that belong to nobody)");
        Objects.requireNonNull(scope, "scope");
        Objects.requireNonNull(key, "key");
        requireText(tenant);
        requireVisibleAscii(Part.SCOPE, scope);
        requireVisibleAscii(Part.KEY, key);
    }

    public OperationId id() {
        return OperationId.of(this);
    }

    private static void requireText(String tenant) {
        requireLength(Part.TENANT, tenant, 0);
        for (int i = 0, c; i < tenant.length(); i += Character.charCount(c)) {
            c = tenant.codePointAt(i);
            if (Character.isISOControl(c) || isSurrogate(c)) {
                throw new InvalidKeyException(Part.TENANT, "tenant holds a control character or half a character");
            }
        }
    }

    /** Half of a pair: it has no bytes in UTF-8, so two tenants could not be told apart. */
    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    private static void requireVisibleAscii(Part part, String value) {
        requireLength(part, value, 1);
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < '!' || c > '~') {
                throw new InvalidKeyException(
                        part,
                        "%s holds U+%04X at position %d; only visible ASCII characters (! to ~) are allowed"
                                .formatted(name(part), (int) c, i));
            }
        }
    }

    private static void requireLength(Part part, String value, int least) {
        if (value.length() < least || value.length() > MAX_LENGTH) {
            throw new InvalidKeyException(
                    part,
                    "%s has %d characters; %d to %d are allowed"
                            .formatted(name(part), value.length(), least, MAX_LENGTH));
        }
    }

    private static String name(Part part) {
        return part.name().toLowerCase(java.util.Locale.ROOT);
    }
}
