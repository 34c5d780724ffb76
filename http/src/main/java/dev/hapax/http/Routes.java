package dev.hapax.http;

import java.util.List;
import java.util.Optional;

/** All protected routes; the first that fits counts. Immutable. */
public record Routes(List<Route> routes) {
    public Routes {
        routes = List.copyOf(routes);
    }

    /** @see HttpIdempotency#match */
    Optional<Match> match(String method, String path, Headers headers) {
        throw new UnsupportedOperationException();
    }
}
