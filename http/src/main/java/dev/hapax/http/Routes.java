package dev.hapax.http;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * All protected routes; the first that fits counts. Immutable.
 *
 * <p>Matching is protective: what some server might read as a protected path never passes as an unprotected one.
 * Differences that change nothing (letter case, a slash at the end, letters that are encoded without need) are matched;
 * spellings that servers read differently (dot segments, empty segments, parameters, encoded slashes, broken escapes)
 * are refused where one of the readings is protected. So is a header that asks a server to read another method.
 */
public record Routes(List<Route> routes) {
    private static final Set<String> METHOD_OVERRIDES = Set.of(
            "x-http-method-override", "x-http-method", "x-method-override", "x-original-method", "x-rewrite-method");

    public Routes {
        routes = List.copyOf(routes);
    }

    /** @see HttpIdempotency#match */
    Optional<Match> match(String method, String path, Headers headers) {
        String verb = method.toUpperCase(Locale.ROOT);
        Optional<Match> match = find(verb, path);
        for (Headers.Field field : headers.fields()) {
            if (METHOD_OVERRIDES.contains(field.name().toLowerCase(Locale.ROOT))) {
                refuseOverride(verb, path, match, field);
            }
        }
        return match;
    }

    private void refuseOverride(String verb, String path, Optional<Match> match, Headers.Field field) {
        for (String value : field.value().split("[,;]", -1)) {
            String other = value.strip().toUpperCase(Locale.ROOT);
            if (!other.equals(verb) && (match.isPresent() || find(other, path).isPresent())) {
                throw new ProblemException(
                        Problem.REQUEST_INVALID, "a protected request cannot change its method with " + field.name());
            }
        }
    }

    private Optional<Match> find(String verb, String path) {
        if (routes.stream().noneMatch(route -> route.method().equals(verb))) {
            return Optional.empty();
        }
        Optional<PlainPath> plain = PlainPath.of(path);
        Optional<Match> match = plain.flatMap(it -> find(verb, it));
        if (match.isEmpty() && !plain.map(PlainPath::tidy).orElse(false)) {
            refuseIfProtected(verb, path);
        }
        return match;
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
