package dev.hapax.gateway.config;

import dev.hapax.http.JwtVerifier;
import dev.hapax.http.TenantSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The ways to say whose keys are whose. */
final class TenantForms {
    private static final String EXPECTED = "none, authorization, certificate, header NAME, or a group with jwt";

    private static final Setting<String> CLAIM =
            Setting.of("claim", Scalars.TEXT, "sub", "The claim that names the tenant");
    private static final Setting<byte[]> SECRET =
            Setting.optional("secret", Scalars.SECRET, "The shared secret of tokens signed with HS256");
    private static final Setting<Path> PUBLIC_KEY = Setting.optional(
            "public-key", Scalars.FILE, "A PEM file with the public key of tokens signed with RS256 or ES256");
    private static final Setting<Boolean> TRUSTED = Setting.optional(
            "trusted", Scalars.YES_OR_NO, "Whether somebody before this gateway has checked the token already");

    private static final Setting<String> HEADER = Setting.optional(
            "header",
            Scalars.HEADER_NAME,
            "A header that somebody trustworthy sets, such as a proxy that authenticates");
    private static final Setting<byte[]> HASH_SECRET = Setting.optional(
            "secret",
            Scalars.SECRET,
            "The key of the hash, so that nobody who reads the store can try passwords on it");
    private static final Setting<TenantSource> AUTHORIZATION = Setting.optional(
            "authorization",
            Section.of("secret", TenantForms::authorization, HASH_SECRET),
            "A hash of the `Authorization` header; a token that changes makes another tenant");
    private static final Setting<TenantSource> JWT = Setting.optional(
            "jwt",
            Section.of(
                    "claim with secret, public-key or trusted", TenantForms::jwt, CLAIM, SECRET, PUBLIC_KEY, TRUSTED),
            "A claim of the bearer token");

    static final Shape<TenantSource> SHAPE = new Either<>(
            new Scalar<>(EXPECTED, (text, origin) -> parse(Scalars.split(text))),
            Section.of(EXPECTED, TenantForms::one, HEADER, AUTHORIZATION, JWT));

    private TenantForms() {}

    private static TenantSource parse(List<String> words) {
        if (words.size() == 2 && words.get(0).equals("header")) {
            return new TenantSource.Header(Scalars.headerName(words.get(1)));
        }
        return switch (words.size() == 1 ? words.get(0) : "") {
            case "none" -> new TenantSource.None();
            case "authorization" -> new TenantSource.Authorization();
            case "certificate" -> new TenantSource.Certificate();
            case "header" -> throw new IllegalArgumentException("say which, as in header X-Account");
            case "jwt" ->
                throw new IllegalArgumentException(
                        "say how tokens are checked, as in tenant: {jwt: {secret: \"${JWT_SECRET}\"}}");
            default ->
                throw new IllegalArgumentException(EXPECTED + " is needed"
                        + Suggestions.hint(
                                words.get(0), List.of("none", "authorization", "certificate", "header", "jwt")));
        };
    }

    private static TenantSource one(Values values) {
        List<TenantSource> said = Stream.of(
                        values.find(HEADER).<TenantSource>map(TenantSource.Header::new),
                        values.find(AUTHORIZATION),
                        values.find(JWT))
                .flatMap(Optional::stream)
                .toList();
        if (said.size() != 1) {
            throw new IllegalArgumentException("one of header, authorization and jwt is needed");
        }
        return said.get(0);
    }

    private static TenantSource authorization(Values values) {
        return values.find(HASH_SECRET).map(TenantSource.Authorization::new).orElseGet(TenantSource.Authorization::new);
    }

    private static TenantSource jwt(Values values) {
        List<Setting<?>> checks = Stream.<Setting<?>>of(SECRET, PUBLIC_KEY, TRUSTED)
                .filter(values::has)
                .toList();
        if (checks.size() != 1) {
            throw new IllegalArgumentException("one of secret, public-key and trusted is needed");
        }
        try {
            return new TenantSource.JwtClaim(values.get(CLAIM), verifier(values));
        } catch (IllegalArgumentException e) {
            values.refuse(checks.get(0), values.path(checks.get(0)) + ": " + e.getMessage());
            return new TenantSource.None();
        }
    }

    private static JwtVerifier verifier(Values values) {
        if (values.has(SECRET)) {
            return JwtVerifier.hmac(values.get(SECRET));
        }
        if (values.has(PUBLIC_KEY)) {
            return JwtVerifier.publicKey(read(values.get(PUBLIC_KEY)));
        }
        if (!values.get(TRUSTED)) {
            throw new IllegalArgumentException("say how tokens are checked instead, with secret or public-key");
        }
        return JwtVerifier.trusted();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalArgumentException(file + " cannot be read as text", e);
        }
    }
}
