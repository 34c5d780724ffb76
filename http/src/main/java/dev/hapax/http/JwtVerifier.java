package dev.hapax.http;

/**
 * Says whether a token is genuine: by a shared secret (HS256), a public key (RS256, ES256), or because it was checked
 * before.
 */
public final class JwtVerifier {
    private JwtVerifier() {}
}
