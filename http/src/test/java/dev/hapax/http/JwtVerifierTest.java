package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JwtVerifierTest {
    private static final byte[] SECRET = Api.bytes("a secret that has at least 32 bytes");
    private static final KeyPair RSA = keys("RSA", 2048);
    private static final KeyPair EC = curve("secp256r1");
    private static final String CLAIMS = "{\"sub\":\"alice\",\"n\":42}";

    private final ManualClock clock = new ManualClock();
    private final JwtVerifier hmac = JwtVerifier.hmac(SECRET).at(clock);

    private static KeyPair keys(String algorithm, int bits) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
            generator.initialize(bits);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static KeyPair curve(String name) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(name));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String unsigned(String header, String claims) {
        return encode(Api.bytes(header)) + '.' + encode(Api.bytes(claims));
    }

    private static String hs256(String header, String claims, byte[] secret) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            String signed = unsigned(header, claims);
            return signed + '.' + encode(mac.doFinal(signed.getBytes(StandardCharsets.US_ASCII)));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static String hs256(String claims) {
        return hs256("{\"typ\":\"JWT\",\"alg\":\"HS256\"}", claims, SECRET);
    }

    private static String signed(String header, String algorithm, PrivateKey key) {
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            String signed = unsigned(header, CLAIMS);
            signature.update(signed.getBytes(StandardCharsets.US_ASCII));
            return signed + '.' + encode(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static String rs256() {
        return signed("{\"alg\":\"RS256\"}", "SHA256withRSA", RSA.getPrivate());
    }

    private static String es256() {
        return signed("{\"alg\":\"ES256\"}", "SHA256withECDSAinP1363Format", EC.getPrivate());
    }

    private static String tenant(JwtVerifier verifier, String claim, String token) {
        return new TenantSource.JwtClaim(claim, verifier).tenantOf(Api.request("", "Authorization", "Bearer " + token));
    }

    private static void assertNotGenuine(JwtVerifier verifier, String token) {
        assertThat(tenant(verifier, "sub", token)).startsWith("unverified#").doesNotContain("alice");
    }

    @Test
    void genuineTokenNamesTheTenant() {
        assertThat(tenant(hmac, "sub", hs256(CLAIMS))).isEqualTo("jwt:alice");
        assertThat(tenant(JwtVerifier.publicKey(RSA.getPublic()), "sub", rs256()))
                .isEqualTo("jwt:alice");
        assertThat(tenant(JwtVerifier.publicKey(EC.getPublic()), "sub", es256()))
                .isEqualTo("jwt:alice");
        assertThat(tenant(hmac, "n", hs256(CLAIMS))).isEqualTo("jwt:42");
    }

    @Test
    void schemeIsReadInAnyCase() {
        TenantSource source = new TenantSource.JwtClaim("sub", hmac);
        for (String scheme : List.of("Bearer ", "bearer ", "BEARER   ")) {
            assertThat(source.tenantOf(Api.request("", "Authorization", scheme + hs256(CLAIMS))))
                    .isEqualTo("jwt:alice");
        }
    }

    @Test
    void claimMayHaveTheNameOfAnAddress() {
        String token = hs256("{\"https://example.com/~org\":\"acme\"}");
        assertThat(tenant(hmac, "https://example.com/~org", token)).isEqualTo("jwt:acme");
    }

    @Test
    void keysComeInPemToo() {
        assertThat(tenant(JwtVerifier.publicKey(pem(RSA.getPublic())), "sub", rs256()))
                .isEqualTo("jwt:alice");
        assertThat(tenant(JwtVerifier.publicKey(pem(EC.getPublic())), "sub", es256()))
                .isEqualTo("jwt:alice");
    }

    private static String pem(PublicKey key) {
        return "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(key.getEncoded())
                + "\n-----END PUBLIC KEY-----\n";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"
            })
    void whatIsNoKeyIsRefused(String pem) {
        assertThatThrownBy(() -> JwtVerifier.publicKey(pem)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void weakKeysAreRefused() {
        assertThatThrownBy(() -> JwtVerifier.hmac(new byte[31])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JwtVerifier.publicKey(keys("RSA", 1024).getPublic()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JwtVerifier.publicKey(curve("secp384r1").getPublic()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JwtVerifier.publicKey(keys("Ed25519", 255).getPublic()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void tokenSignedByAnotherIsNotGenuine() {
        byte[] other = Api.bytes("another secret of at least 32 bytes");
        assertNotGenuine(hmac, hs256("{\"alg\":\"HS256\"}", CLAIMS, other));
        assertNotGenuine(JwtVerifier.publicKey(keys("RSA", 2048).getPublic()), rs256());
        assertNotGenuine(JwtVerifier.publicKey(curve("secp256r1").getPublic()), es256());
    }

    @Test
    void changedTokenIsNotGenuine() {
        String[] parts = hs256(CLAIMS).split("\\.", -1);
        String changed = parts[0] + '.' + encode(Api.bytes("{\"sub\":\"alice\",\"n\":43}")) + '.' + parts[2];
        assertNotGenuine(hmac, changed);
        assertNotGenuine(hmac, parts[0] + '.' + parts[1] + '.');
        assertNotGenuine(hmac, parts[0] + '.' + parts[1]);
        assertNotGenuine(hmac, hs256(CLAIMS) + "=");
        assertNotGenuine(hmac, hs256(CLAIMS) + ".x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "None", "NONE", "HS384", "RS256", "hs256", ""})
    void algorithmOfTheTokenDecidesNothing(String algorithm) {
        String header = "{\"alg\":\"" + algorithm + "\"}";
        assertNotGenuine(hmac, hs256(header, CLAIMS, SECRET));
        assertNotGenuine(hmac, unsigned(header, CLAIMS) + '.');
        assertNotGenuine(JwtVerifier.publicKey(EC.getPublic()), unsigned(header, CLAIMS) + '.');
    }

    /** The old trick: the public key, which everybody knows, used as a shared secret. */
    @Test
    void publicKeyIsNoSharedSecret() {
        JwtVerifier rsa = JwtVerifier.publicKey(RSA.getPublic());
        assertNotGenuine(
                rsa, hs256("{\"alg\":\"HS256\"}", CLAIMS, RSA.getPublic().getEncoded()));
        assertNotGenuine(rsa, hs256("{\"alg\":\"HS256\"}", CLAIMS, Api.bytes(pem(RSA.getPublic()))));
        assertNotGenuine(
                rsa, hs256("{\"alg\":\"RS256\"}", CLAIMS, RSA.getPublic().getEncoded()));
    }

    @Test
    void signatureOfZerosIsNone() {
        String token = unsigned("{\"alg\":\"ES256\"}", CLAIMS);
        for (int length : new int[] {0, 1, 63, 64, 65, 72}) {
            assertNotGenuine(JwtVerifier.publicKey(EC.getPublic()), token + '.' + encode(new byte[length]));
            assertNotGenuine(JwtVerifier.publicKey(RSA.getPublic()), token + '.' + encode(new byte[length]));
        }
    }

    @Test
    void expiredTokenIsNotGenuineGiveOrTakeAMinute() {
        long now = clock.instant().getEpochSecond();
        String token = hs256("{\"sub\":\"alice\",\"exp\":" + (now + 10) + ",\"nbf\":" + (now - 10) + "}");
        assertThat(tenant(hmac, "sub", token)).isEqualTo("jwt:alice");
        clock.advance(Duration.ofSeconds(70));
        assertThat(tenant(hmac, "sub", token)).isEqualTo("jwt:alice");
        clock.advance(Duration.ofSeconds(1));
        assertNotGenuine(hmac, token);
    }

    @Test
    void tokenOfTheFutureIsNotGenuine() {
        long now = clock.instant().getEpochSecond();
        String token = hs256("{\"sub\":\"alice\",\"nbf\":" + (now + 61) + "}");
        assertNotGenuine(hmac, token);
        clock.advance(Duration.ofSeconds(1));
        assertThat(tenant(hmac, "sub", token)).isEqualTo("jwt:alice");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"sub\":\"alice\",\"exp\":\"2099\"}",
                "{\"sub\":\"alice\",\"exp\":null}",
                "{\"sub\":\"alice\",\"exp\":-1e300}",
                "{\"sub\":\"alice\",\"nbf\":1e300}",
                "{\"sub\":\"alice\",\"sub\":\"bob\"}",
                "{\"sub\":true}",
                "{\"sub\":[\"alice\"]}",
                "{\"sub\":\"\"}",
                "{}",
                "[]",
                "alice"
            })
    void tokenWithoutAUsableClaimIsATenantOfItsOwn(String claims) {
        assertNotGenuine(hmac, hs256(claims));
    }

    @Test
    void tokenThatMustBeUnderstoodAndIsNotIsNotGenuine() {
        assertNotGenuine(hmac, hs256("{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}", CLAIMS, SECRET));
    }

    @Test
    void everySenderOfSomethingElseIsATenantOfItsOwn() {
        TenantSource source = new TenantSource.JwtClaim("sub", hmac);
        String basic = source.tenantOf(Api.request("", "Authorization", "Basic YTpi"));
        String other = source.tenantOf(Api.request("", "Authorization", "Basic YTpj"));
        String twice = source.tenantOf(
                Api.request("", "Authorization", "Bearer " + hs256(CLAIMS), "Authorization", "Basic YTpi"));
        assertThat(List.of(basic, other, twice)).doesNotHaveDuplicates().allMatch(it -> it.startsWith("unverified#"));
        assertThat(source.tenantOf(Api.request(""))).isEmpty();
    }

    @Test
    void trustedTokensAreReadAsTheyAre() {
        JwtVerifier trusted = JwtVerifier.trusted();
        assertThat(tenant(trusted, "sub", unsigned("{\"alg\":\"none\"}", CLAIMS) + '.'))
                .isEqualTo("jwt:alice");
        assertThat(tenant(trusted, "sub", hs256("{\"sub\":\"alice\",\"exp\":1}")))
                .isEqualTo("jwt:alice");
        assertThat(tenant(trusted, "sub", "no token")).startsWith("unverified#");
    }

    @Test
    void claimThatLooksLikeAnotherTenantIsNotThatOne() {
        String hash = tenant(hmac, "sub", "no token");
        assertThat(tenant(hmac, "sub", hs256("{\"sub\":\"" + hash + "\"}"))).isEqualTo("jwt:" + hash);
    }
}
