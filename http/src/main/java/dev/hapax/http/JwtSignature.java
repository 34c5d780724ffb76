package dev.hapax.http;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * One way to sign a token.
 *
 * @param algorithm as RFC 7518 names it
 */
record JwtSignature(String algorithm, Check check) {
    static final JwtSignature ANY = new JwtSignature("", (signed, signature) -> true);

    private static final int MIN_SECRET_BYTES = 32;
    private static final int MIN_RSA_BITS = 2048;
    private static final int P256_BITS = 256;
    private static final int P256_BYTES = 32;

    /** Whether a signature is that of the signed bytes. */
    interface Check {
        boolean fits(byte[] signed, byte[] signature) throws GeneralSecurityException;
    }

    boolean fits(byte[] signed, byte[] signature) throws GeneralSecurityException {
        return check.fits(signed, signature);
    }

    static JwtSignature hmac(byte[] secret) {
        if (secret.length < MIN_SECRET_BYTES) {
            throw new IllegalArgumentException(
                    "the secret has %d bytes; HS256 needs at least %d".formatted(secret.length, MIN_SECRET_BYTES));
        }
        SecretKeySpec key = new SecretKeySpec(secret, "HmacSHA256");
        return new JwtSignature("HS256", (signed, signature) -> {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            return MessageDigest.isEqual(mac.doFinal(signed), signature);
        });
    }

    static JwtSignature publicKey(PublicKey key) {
        if (key instanceof RSAPublicKey rsa) {
            if (rsa.getModulus().bitLength() < MIN_RSA_BITS) {
                throw new IllegalArgumentException("an RSA key needs at least " + MIN_RSA_BITS + " bits");
            }
            return new JwtSignature("RS256", (signed, signature) -> verify("SHA256withRSA", key, signed, signature));
        } else if (key instanceof ECPublicKey ec
                && ec.getParams().getCurve().getField().getFieldSize() == P256_BITS) {
            return new JwtSignature(
                    "ES256",
                    (signed, signature) ->
                            isInRange(signature) && verify("SHA256withECDSAinP1363Format", key, signed, signature));
        }
        throw new IllegalArgumentException(
                "this is a public key for %s; RSA and EC on the curve P-256 are known".formatted(key.getAlgorithm()));
    }

    /** Two numbers, none of them zero: some implementations take zeros for a signature of everything. */
    private static boolean isInRange(byte[] signature) {
        byte[] zero = new byte[P256_BYTES];
        return signature.length == 2 * P256_BYTES
                && !Arrays.equals(signature, 0, P256_BYTES, zero, 0, P256_BYTES)
                && !Arrays.equals(signature, P256_BYTES, 2 * P256_BYTES, zero, 0, P256_BYTES);
    }

    private static boolean verify(String name, PublicKey key, byte[] signed, byte[] signature)
            throws GeneralSecurityException {
        Signature verifier = Signature.getInstance(name);
        verifier.initVerify(key);
        verifier.update(signed);
        return verifier.verify(signature);
    }

    static PublicKey parse(String pem) {
        String text = pem.strip();
        String begin = "-----BEGIN PUBLIC KEY-----";
        String end = "-----END PUBLIC KEY-----";
        if (!text.startsWith(begin) || !text.endsWith(end)) {
            throw new IllegalArgumentException("a public key in PEM begins with " + begin + " and ends with " + end);
        }
        byte[] encoded = Base64.getMimeDecoder()
                .decode(text.substring(begin.length(), text.length() - end.length())
                        .getBytes(StandardCharsets.US_ASCII));
        return key("RSA", encoded)
                .or(() -> key("EC", encoded))
                .orElseThrow(() -> new IllegalArgumentException("the PEM holds neither an RSA nor an EC key"));
    }

    private static Optional<PublicKey> key(String algorithm, byte[] encoded) {
        try {
            return Optional.of(KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(encoded)));
        } catch (GeneralSecurityException another) {
            return Optional.empty();
        }
    }
}
