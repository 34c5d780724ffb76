package dev.hapax.testkit.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/** Reads a path as the most careless of servers would: what may slip past a route is what such a server executes. */
final class LoosePath {
    private static final int DECODINGS = 3;

    private LoosePath() {}

    static String of(String target) {
        String path = target.replaceFirst("^(?i)https?://[^/?#]*", "").replaceFirst("[?#].*$", "");
        for (int i = 0; i < DECODINGS; i++) {
            path = decode(path).replaceFirst("\0.*$", "");
        }
        Deque<String> segments = new ArrayDeque<>();
        for (String segment : path.replace('\\', '/').split("/", -1)) {
            String name = segment.replaceFirst(";.*$", "").strip();
            if (name.equals("..")) {
                segments.pollLast();
            } else if (!name.isEmpty() && !name.equals(".")) {
                segments.add(name);
            }
        }
        return ("/" + String.join("/", segments)).toLowerCase(Locale.ROOT);
    }

    private static String decode(String path) {
        try {
            return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException broken) {
            return path;
        }
    }
}
