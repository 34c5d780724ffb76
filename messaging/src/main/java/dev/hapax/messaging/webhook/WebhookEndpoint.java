package dev.hapax.messaging.webhook;

import java.net.URI;
import java.util.List;

/**
 * Where webhooks go.
 *
 * @param url {@code https}, or {@code http} in a trusted network
 * @param secrets what they are signed with. During a rotation the new one and the old one: the receiver accepts a
 *     webhook that either of them signed
 */
public record WebhookEndpoint(URI url, List<WebhookSecret> secrets) {
    public WebhookEndpoint {
        boolean web = "https".equalsIgnoreCase(url.getScheme()) || "http".equalsIgnoreCase(url.getScheme());
        if (!web || url.getHost() == null) {
            throw new IllegalArgumentException("a webhook's URL begins with https:// and a host");
        }
        secrets = List.copyOf(secrets);
        if (secrets.isEmpty()) {
            throw new IllegalArgumentException(
                    "without a secret the receiver could not tell a webhook from a forged one");
        }
    }

    public static WebhookEndpoint of(String url, String... secrets) {
        return new WebhookEndpoint(
                URI.create(url),
                List.of(secrets).stream().map(WebhookSecret::parse).toList());
    }
}
