package dev.hapax.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which headers of a response are kept with it and replayed.
 *
 * <p>Kept is what describes the body or tells the caller where the result is, and what a browser needs to know before
 * it hands a body to a script. Never kept is what belongs to one connection, one message or one moment, and what may
 * belong to one person: {@code Set-Cookie}.
 */
final class StoredHeaders {
    private static final Set<String> USUAL = Set.of(
            "content-type",
            "content-encoding",
            "content-language",
            "content-location",
            "content-disposition",
            "content-range",
            "content-digest",
            "repr-digest",
            "digest",
            "location",
            "etag",
            "last-modified",
            "link",
            "cache-control",
            "expires",
            "vary",
            "retry-after",
            "allow",
            "accept-patch",
            "accept-post",
            "preference-applied",
            "content-security-policy",
            "content-security-policy-report-only",
            "x-content-type-options",
            "x-frame-options",
            "referrer-policy",
            "access-control-allow-origin",
            "access-control-allow-credentials",
            "access-control-expose-headers");

    private static final Set<String> NEVER = Set.of(
            "set-cookie",
            "set-cookie2",
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authenticate",
            "proxy-authentication-info",
            "proxy-authorization",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "content-length",
            "date",
            "age",
            "via",
            "idempotent-replayed");

    private static final String OURS = "hapax-";

    private StoredHeaders() {}

    /**
     * The names in small letters.
     *
     * @throws IllegalArgumentException that names what is never kept
     */
    static Set<String> requireStorable(Set<String> names) {
        Set<String> storable = new HashSet<>();
        for (String name : new TreeSet<>(names)) {
            String lower = Tokens.requireFieldName(name).toLowerCase(Locale.ROOT);
            if (NEVER.contains(lower) || lower.startsWith(OURS)) {
                throw new IllegalArgumentException(
                        name + " is never stored: it belongs to one message, one connection or one person");
            }
            storable.add(lower);
        }
        return Set.copyOf(storable);
    }

    /**
     * What of a response's headers is kept, in order.
     *
     * @param more besides the usual ones, in small letters
     */
    static List<Headers.Field> of(Headers headers, Set<String> more) {
        Set<String> connection = namedByConnection(headers);
        List<Headers.Field> kept = new ArrayList<>();
        for (Headers.Field field : headers.fields()) {
            String name = field.name().toLowerCase(Locale.ROOT);
            if ((USUAL.contains(name) || more.contains(name)) && !connection.contains(name)) {
                kept.add(field);
            }
        }
        return kept;
    }

    private static Set<String> namedByConnection(Headers headers) {
        Set<String> names = new HashSet<>();
        for (String value : headers.all("Connection")) {
            for (String name : value.split(",", -1)) {
                names.add(name.strip().toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }
}
