package dev.hapax.messaging.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs {@code id.timestamp.body} with HMAC-SHA256, once for each secret. */
final class Signature {
    private static final String ALGORITHM = "HmacSHA256";

    private Signature() {}

    static String of(String id, long timestamp, byte[] body, List<WebhookSecret> secrets) {
        return secrets.stream()
                .map(secret -> "v1," + Base64.getEncoder().encodeToString(sign(id, timestamp, body, secret)))
                .collect(Collectors.joining(" "));
    }

    private static byte[] sign(String id, long timestamp, byte[] body, WebhookSecret secret) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(secret.key(), ALGORITHM));
            mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
            return mac.doFinal(body);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has " + ALGORITHM, e);
        }
    }
}
