package dev.hapax.gateway.proxy;

import dev.hapax.http.Headers;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Headers that mean one connection only and are never forwarded: RFC 9110, section 7.6.1. */
final class HopByHop {
    private static final Set<String> ALWAYS =
            Set.of("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings");

    private HopByHop() {}

    /** Without those headers, and without the ones that {@code Connection} names. */
    static Headers removed(Headers headers) {
        Set<String> named = named(headers);
        return headers.without(name -> {
            String lower = name.toLowerCase(Locale.ROOT);
            return ALWAYS.contains(lower) || lower.startsWith("proxy-") || named.contains(lower);
        });
    }

    /** Whether {@code Connection} names this. */
    static boolean names(Headers headers, String token) {
        return named(headers).contains(token);
    }

    /** What {@code Connection} names, in lower case. */
    static Set<String> named(Headers headers) {
        List<String> lines = headers.all("Connection");
        if (lines.isEmpty()) {
            return Set.of();
        }
        Set<String> named = new HashSet<>();
        for (String line : lines) {
            for (String name : line.split(",", -1)) {
                named.add(name.trim().toLowerCase(Locale.ROOT));
            }
        }
        return named;
    }
}
