package dev.hapax;

import dev.hapax.store.OperationId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Makes keys for the systems behind a handler: an HMAC over the operation's id, its generation and a name, in the form
 * of a UUID because every API accepts that one.
 */
final class DownstreamKeys {
    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec secret;

    DownstreamKeys(byte[] secret) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
    }

    String of(OperationId id, int generation, String name) {
        ByteBuffer operation = ByteBuffer.allocate(2 * Long.BYTES + Integer.BYTES)
                .putLong(id.value().getMostSignificantBits())
                .putLong(id.value().getLeastSignificantBits())
                .putInt(generation);
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            mac.update(operation.array());
            ByteBuffer key = ByteBuffer.wrap(mac.doFinal(name.getBytes(StandardCharsets.UTF_8)));
            return new UUID(key.getLong(), key.getLong()).toString();
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has " + ALGORITHM, e);
        }
    }
}
