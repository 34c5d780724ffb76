package dev.hapax.gateway.proxy;

import dev.hapax.http.Headers;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Headers that mean one connection only and are never forwarded: RFC 9110, section 7.6.1. */
final class HopByHop {
    private static final Set<String> ALWAYS =
            Set.of("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings");

    private HopByHop() {}

    /** Without those headers, and without the ones that {@code Connection} names. */
    static Headers removed(Headers headers) {
        Set<String> named = named(headers).collect(Collectors.toSet());
        return headers.without(name -> {
            String lower = name.toLowerCase(Locale.ROOT);
            return ALWAYS.contains(lower) || lower.startsWith("proxy-") || named.contains(lower);
        });
    }

    /** Whether {@code Connection} names this. */
    static boolean names(Headers headers, String token) {
        return named(headers).anyMatch(token::equals);
    }

    /** What {@code Connection} names, in lower case. */
    static Stream<String> named(Headers headers) {
        return headers.all("Connection").stream()
                .flatMap(value -> Arrays.stream(value.split(",", -1)))
                .map(name -> name.trim().toLowerCase(Locale.ROOT));
    }
}
