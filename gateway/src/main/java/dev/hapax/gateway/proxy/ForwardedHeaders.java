package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Forwarding;
import dev.hapax.http.Headers;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.SocketAddress;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tells the upstream who asked, and how: {@code X-Forwarded-*}, {@code Forwarded} (RFC 7239), {@code Via}. */
final class ForwardedHeaders {
    private static final Set<String> CLAIMS = Set.of("forwarded", "x-real-ip");

    private final Forwarding forwarding;

    ForwardedHeaders(Forwarding forwarding) {
        this.forwarding = forwarding;
    }

    /** The headers of a request with what is known of its client. */
    Headers told(Headers headers, HttpServerRequest request, String host) {
        Headers told = forwarding.trustClient() ? headers : headers.without(ForwardedHeaders::isClaim);
        String client = address(request.remoteAddress());
        String scheme = request.isSSL() ? "https" : "http";
        told = listed(told, "X-Forwarded-For", client);
        told = unlessClaimed(told, "X-Forwarded-Proto", scheme);
        told = unlessClaimed(told, "X-Forwarded-Port", Integer.toString(port(request.localAddress())));
        String forwarded = "for=" + node(client) + ";proto=" + scheme;
        if (!host.isEmpty()) {
            told = unlessClaimed(told, "X-Forwarded-Host", host);
            forwarded += ";host=\"" + host + '"';
        }
        told = listed(told, "Forwarded", forwarded);
        return forwarding.via() == null
                ? told
                : listed(told, "Via", protocol(request.version()) + ' ' + forwarding.via());
    }

    private static boolean isClaim(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.startsWith("x-forwarded-") || CLAIMS.contains(lower);
    }

    private static Headers listed(Headers headers, String name, String value) {
        String before = String.join(", ", headers.all(name));
        return headers.with(name, before.isEmpty() ? value : before + ", " + value);
    }

    private static Headers unlessClaimed(Headers headers, String name, String value) {
        return headers.contains(name) ? headers : headers.with(name, value);
    }

    private static int port(@Nullable SocketAddress local) {
        return local == null ? 0 : local.port();
    }

    /** @param client empty when it has already gone */
    private static String address(@Nullable SocketAddress client) {
        if (client == null) {
            return "unknown";
        }
        String address = client.hostAddress();
        int zone = address.indexOf('%');
        return zone < 0 ? address : address.substring(0, zone);
    }

    private static String node(String address) {
        return address.contains(":") ? "\"[" + address + "]\"" : address;
    }

    private static String protocol(HttpVersion version) {
        return switch (version) {
            case HTTP_1_0 -> "1.0";
            case HTTP_1_1 -> "1.1";
            case HTTP_2 -> "2";
        };
    }
}
