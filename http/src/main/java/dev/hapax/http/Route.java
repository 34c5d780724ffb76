package dev.hapax.http;

import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * Requests that are protected, and how. Immutable.
 *
 * @param method in capital letters; never GET, HEAD, OPTIONS, TRACE or CONNECT
 * @param scope the scope of the {@code Hapax} that carries the policy
 */
public record Route(String method, PathPattern path, String scope, KeySource key, HttpPolicy policy) {
    private static final Set<String> NEVER = Set.of("GET", "HEAD", "OPTIONS", "TRACE", "CONNECT");

    /** @throws IllegalArgumentException that says what is wrong with it */
    public Route {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(scope, "scope");
        Objects.requireNonNull(policy, "policy");
        if (!Tokens.isToken(method) || !method.equals(method.toUpperCase(Locale.ROOT))) {
            throw new IllegalArgumentException("\"" + method + "\" is not a method in capital letters");
        } else if (NEVER.contains(method)) {
            throw new IllegalArgumentException(method + " is never protected: a retry of it is harmless already");
        }
        if (key instanceof KeySource.Natural natural && !path.names().containsAll(natural.pathValues())) {
            throw new IllegalArgumentException("the natural key needs %s of the path, but %s has only %s"
                    .formatted(natural.pathValues(), path, path.names()));
        }
    }
}
