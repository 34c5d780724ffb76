package dev.hapax.http;

import dev.hapax.store.Fingerprint;

/** What makes two requests the same. */
final class Fingerprints {
    private Fingerprints() {}

    static Fingerprint of(HttpRequest request, Match match) {
        Hashing hash = Hashing.with(match.route().policy().fingerprint().secret())
                .add(match.route().method())
                .add(match.path())
                .add(request.query())
                .add(request.headers().first("Content-Type").orElse(""))
                .add(request.body(), 0, request.body().length);
        return Fingerprint.ofDigest(hash.digest());
    }
}
