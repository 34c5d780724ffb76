package dev.hapax.http;

import java.util.Map;

/**
 * A protected request's route. Immutable.
 *
 * @param path in its normal form, so that spellings of one path are one request
 * @param pathValues what stands for the names in the route's pattern
 */
public record Match(Route route, String path, Map<String, String> pathValues) {
    public Match {
        pathValues = Map.copyOf(pathValues);
    }
}
