package dev.hapax.postgres.outbox;

import java.util.LinkedHashMap;
import java.util.Map;

/** Headers as human-readable lines. Names have no colon and values no line end, so nothing needs to be escaped. */
final class Headers {
    private static final String COLON = ": ";

    private Headers() {}

    static String write(Map<String, String> headers) {
        StringBuilder lines = new StringBuilder();
        headers.forEach(
                (name, value) -> lines.append(name).append(COLON).append(value).append('\n'));
        return lines.toString();
    }

    /** @throws IllegalArgumentException if these are not lines of names and values */
    static Map<String, String> read(String lines) {
        Map<String, String> headers = new LinkedHashMap<>();
        int at = 0;
        while (at < lines.length()) {
            int colon = lines.indexOf(COLON, at);
            int end = lines.indexOf('\n', colon);
            if (colon < 0 || end < 0) {
                throw new IllegalArgumentException("the headers are not lines of the form \"name: value\"");
            }
            headers.put(lines.substring(at, colon), lines.substring(colon + COLON.length(), end));
            at = end + 1;
        }
        return headers;
    }
}
