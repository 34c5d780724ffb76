package dev.hapax.gateway.config;

import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.PathPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The requests that a route is for: {@code POST /v1/charges}. Without a method it is for POST and PATCH. */
record RouteMatch(List<String> methods, PathPattern path) {
    private static final Set<String> POSSIBLE = Set.of("POST", "PATCH", "PUT", "DELETE");
    private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS", "TRACE");
    private static final List<String> USUAL = List.of("POST", "PATCH");

    static final Scalar<RouteMatch> SCALAR =
            new Scalar<>("a method and a path such as POST /v1/charges", (text, origin) -> parse(text));

    private static RouteMatch parse(String text) {
        List<String> words = Scalars.split(text);
        String path = words.get(words.size() - 1);
        if (words.size() > 2 || !path.startsWith("/")) {
            throw new IllegalArgumentException("a method and a path are needed, as in POST /v1/charges");
        }
        if ((path.toLowerCase(Locale.ROOT) + "/").startsWith(HttpIdempotency.RESERVED_PATH)) {
            throw new IllegalArgumentException(
                    "paths below " + HttpIdempotency.RESERVED_PATH + " are the gateway's own");
        }
        return new RouteMatch(words.size() == 1 ? USUAL : methods(words.get(0)), PathPattern.of(path));
    }

    private static List<String> methods(String text) {
        List<String> methods = new ArrayList<>();
        for (String method : text.toUpperCase(Locale.ROOT).split(",", -1)) {
            if (SAFE.contains(method)) {
                throw new IllegalArgumentException(
                        method + " changes nothing and is never protected; leave the route out");
            }
            if (!POSSIBLE.contains(method)) {
                throw new IllegalArgumentException(
                        "the method is POST, PATCH, PUT or DELETE" + Suggestions.hint(method, POSSIBLE));
            }
            methods.add(method);
        }
        return methods.stream().distinct().toList();
    }

    /** The scope of a route that names none: it changes when the match does, and keys are forgotten then. */
    String scope() {
        return methods.equals(USUAL) ? path.text() : String.join(",", methods) + ":" + path.text();
    }

    /** Whether every request of the other one is also a request of this one. */
    boolean covers(RouteMatch other) {
        return methods.containsAll(other.methods) && covers(segments(path.text()), segments(other.path.text()));
    }

    private static boolean covers(List<String> wide, List<String> narrow) {
        for (int i = 0; i < wide.size(); i++) {
            if (wide.get(i).equals("**")) {
                return true;
            }
            if (i >= narrow.size() || narrow.get(i).equals("**") || !coversOne(wide.get(i), narrow.get(i))) {
                return false;
            }
        }
        return wide.size() == narrow.size();
    }

    private static boolean coversOne(String wide, String narrow) {
        return wide.startsWith("{") || wide.equalsIgnoreCase(narrow);
    }

    private static List<String> segments(String path) {
        boolean slashAtEnd = path.length() > 1 && path.endsWith("/");
        return List.of(path.substring(1, path.length() - (slashAtEnd ? 1 : 0)).split("/", -1));
    }
}
