package dev.hapax.http;

/**
 * Requests that are protected, and how.
 *
 * @param method in capital letters; never GET, HEAD, OPTIONS or TRACE
 * @param scope the scope of the {@code Hapax} that carries the policy
 */
public record Route(String method, PathPattern path, String scope, KeySource key, HttpPolicy policy) {}
