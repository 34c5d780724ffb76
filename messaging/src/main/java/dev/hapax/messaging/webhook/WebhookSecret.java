package dev.hapax.messaging.webhook;

import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** A key that signs webhooks, as both sides write it: {@code whsec_} and base64. Never printed. Immutable. */
public final class WebhookSecret {
    private static final String PREFIX = "whsec_";
    private static final int SHORTEST = 24;
    private static final int LONGEST = 64;

    private final byte[] key;

    private WebhookSecret(byte[] key) {
        this.key = key;
    }

    /** @throws IllegalArgumentException unless it is {@code whsec_} and base64 of 24 to 64 bytes */
    public static WebhookSecret parse(String text) {
        if (!text.startsWith(PREFIX)) {
            throw new IllegalArgumentException("a webhook secret begins with " + PREFIX);
        }
        byte[] key;
        try {
            key = Base64.getDecoder().decode(text.substring(PREFIX.length()));
        } catch (IllegalArgumentException e) {
            // Without the cause, whose message quotes the secret.
            throw new IllegalArgumentException("what follows " + PREFIX + " in a webhook secret is not base64");
        }
        if (key.length < SHORTEST || key.length > LONGEST) {
            throw new IllegalArgumentException("a webhook secret is %d to %d bytes long; this one has %d"
                    .formatted(SHORTEST, LONGEST, key.length));
        }
        return new WebhookSecret(key);
    }

    byte[] key() {
        return key;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof WebhookSecret that && Arrays.equals(key, that.key);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(key);
    }

    @Override
    public String toString() {
        return PREFIX + "…";
    }
}
