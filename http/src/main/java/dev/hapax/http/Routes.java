package dev.hapax.http;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * All protected routes; the first that fits counts. Immutable.
 *
 * <p>Matching is protective: what some server might read as a protected path never passes as an unprotected one.
 * Differences that change nothing (letter case, a slash at the end, letters that are encoded without need) are matched;
 * spellings that servers read differently (dot segments, empty segments, parameters, encoded slashes, broken escapes)
 * are refused where one of the readings is protected. So are headers that ask a server to read another method or path.
 */
public record Routes(List<Route> routes) {
    private static final List<String> OTHER_METHOD =
            List.of("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override");
    private static final List<String> OTHER_PATH = List.of("X-Original-URL", "X-Rewrite-URL");

    public Routes {
        routes = List.copyOf(routes);
    }

    /** @see HttpIdempotency#match */
    Optional<Match> match(String method, String path, Headers headers) {
        String verb = method.toUpperCase(Locale.ROOT);
        Optional<Match> match = find(verb, path);
        refuseOtherMethods(verb, path, match, headers);
        refuseOtherPaths(verb, match, headers);
        return match;
    }

    private void refuseOtherMethods(String verb, String path, Optional<Match> match, Headers headers) {
        for (String name : OTHER_METHOD) {
            for (String value : headers.all(name)) {
                String other = value.strip().toUpperCase(Locale.ROOT);
                boolean differs = !other.isEmpty() && !other.equals(verb);
                if (differs && (match.isPresent() || find(other, path).isPresent())) {
                    throw refused(name);
                }
            }
        }
    }

    private void refuseOtherPaths(String verb, Optional<Match> match, Headers headers) {
        for (String name : OTHER_PATH) {
            for (String value : headers.all(name)) {
                String path = pathOf(value.strip());
                Optional<Match> other = path.isEmpty() ? Optional.empty() : find(verb, path);
                if (other.isPresent() && !other.equals(match)) {
                    throw refused(name);
                }
            }
        }
    }

    private static String pathOf(String url) {
        int scheme = url.indexOf("://");
        int from = scheme < 0 ? 0 : Math.max(url.indexOf('/', scheme + 3), scheme + 3);
        int query = url.indexOf('?', from);
        return url.substring(from, query < 0 ? url.length() : query);
    }

    private static ProblemException refused(String header) {
        return new ProblemException(
                Problem.REQUEST_INVALID, "a protected request cannot be changed into another one with " + header);
    }

    private Optional<Match> find(String verb, String path) {
        if (!isProtected(verb)) {
            return Optional.empty();
        }
        Optional<PlainPath> plain = PlainPath.of(path);
        Optional<Match> match = plain.flatMap(it -> find(verb, it));
        if (match.isEmpty() && !plain.map(PlainPath::tidy).orElse(false)) {
            refuseIfProtected(verb, path);
        }
        return match;
    }

    private boolean isProtected(String verb) {
        for (Route route : routes) {
            if (route.method().equals(verb)) {
                return true;
            }
        }
        return false;
    }

    private Optional<Match> find(String verb, PlainPath path) {
        for (Route route : routes) {
            if (route.method().equals(verb)) {
                Optional<Map<String, String>> values = route.path().match(path.segments());
                if (values.isPresent()) {
                    return Optional.of(new Match(route, route.path().normal(path.segments()), values.get()));
                }
            }
        }
        return Optional.empty();
    }

    private void refuseIfProtected(String verb, String path) {
        Optional<LoosePath> loose = LoosePath.of(path);
        for (Route route : routes) {
            if (route.method().equals(verb)
                    && loose.map(it -> it.mayFit(route.path())).orElse(true)) {
                throw new ProblemException(
                        Problem.PATH_AMBIGUOUS,
                        "write the path without dot segments, empty segments, parameters and needless escapes");
            }
        }
    }
}
