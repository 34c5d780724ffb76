package dev.hapax.http;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Optional;

/**
 * Says whether a token is genuine: by a shared secret (HS256), a public key (RS256, ES256), or because it was checked
 * before. Immutable.
 *
 * <p>The kind of key decides the algorithm, never the token: a token that names another one, or none, is not genuine.
 * Nor is one that has expired or is not valid yet, give or take a minute: somebody behind us may be as generous, and a
 * retry must not lose its tenant earlier than there.
 */
public final class JwtVerifier {
    private static final Duration LEEWAY = Duration.ofMinutes(1);
    private static final JsonPointer ALGORITHM = JsonPointer.of("/alg");
    private static final JsonPointer CRITICAL = JsonPointer.of("/crit");
    private static final JsonPointer EXPIRES = JsonPointer.of("/exp");
    private static final JsonPointer NOT_BEFORE = JsonPointer.of("/nbf");

    private final JwtSignature signature;
    private final boolean trusting;
    private final InstantSource clock;

    private JwtVerifier(JwtSignature signature, boolean trusting, InstantSource clock) {
        this.signature = signature;
        this.trusting = trusting;
        this.clock = clock;
    }

    /**
     * Tokens signed with HS256.
     *
     * @throws IllegalArgumentException for a secret of less than 32 bytes, which RFC 7518 forbids
     */
    public static JwtVerifier hmac(byte[] secret) {
        return new JwtVerifier(JwtSignature.hmac(secret), false, InstantSource.system());
    }

    /**
     * Tokens signed with RS256 or ES256, whichever the key is for.
     *
     * @throws IllegalArgumentException for another kind of key, or one that is too short
     */
    public static JwtVerifier publicKey(PublicKey key) {
        return new JwtVerifier(JwtSignature.publicKey(key), false, InstantSource.system());
    }

    /**
     * @param pem a key between {@code -----BEGIN PUBLIC KEY-----} and {@code -----END PUBLIC KEY-----}
     * @throws IllegalArgumentException if it is none
     */
    public static JwtVerifier publicKey(String pem) {
        return publicKey(JwtSignature.parse(pem));
    }

    /** Every token, because somebody before us has checked it and lets no other one pass. */
    public static JwtVerifier trusted() {
        return new JwtVerifier(JwtSignature.ANY, true, InstantSource.system());
    }

    /** With another clock to tell what has expired. */
    public JwtVerifier at(InstantSource clock) {
        return new JwtVerifier(signature, trusting, clock);
    }

    /** A claim of a token, if the token is genuine and has it as a string or a number. */
    Optional<String> claim(String token, JsonPointer claim) {
        String[] parts = token.split("\\.", -1);
        if (parts.length != 3) {
            return Optional.empty();
        }
        try {
            CanonicalJson header = json(parts[0]);
            CanonicalJson claims = json(parts[1]);
            boolean genuine = trusting || (isSigned(header, parts) && isCurrent(claims));
            return genuine ? claims.scalar(claim).filter(value -> !value.isEmpty()) : Optional.empty();
        } catch (IllegalArgumentException | ProblemException | GeneralSecurityException notAToken) {
            return Optional.empty();
        }
    }

    private boolean isSigned(CanonicalJson header, String[] parts) throws GeneralSecurityException {
        byte[] signed = (parts[0] + '.' + parts[1]).getBytes(StandardCharsets.US_ASCII);
        return header.kind(ALGORITHM) == CanonicalJson.TEXT
                && header.scalar(ALGORITHM).equals(Optional.of(signature.algorithm()))
                && header.kind(CRITICAL) == 0
                && signature.fits(signed, decode(parts[2]));
    }

    private boolean isCurrent(CanonicalJson claims) {
        Instant now = clock.instant();
        return compare(claims, EXPIRES, now.minus(LEEWAY), 1) && compare(claims, NOT_BEFORE, now.plus(LEEWAY), -1);
    }

    /** Whether a time is on that side of another one, or is not there at all. */
    private static boolean compare(CanonicalJson claims, JsonPointer claim, Instant with, int side) {
        byte kind = claims.kind(claim);
        if (kind != CanonicalJson.NUMBER) {
            return kind == 0;
        }
        BigDecimal time = new BigDecimal(claims.scalar(claim).orElseThrow());
        int compared = time.compareTo(BigDecimal.valueOf(with.getEpochSecond()));
        return compared == 0 || compared == side;
    }

    private static CanonicalJson json(String part) {
        return CanonicalJson.of(decode(part)).orElseThrow(() -> new IllegalArgumentException("not JSON"));
    }

    private static byte[] decode(String part) {
        if (part.endsWith("=")) {
            throw new IllegalArgumentException("padded");
        }
        return Base64.getUrlDecoder().decode(part);
    }
}
