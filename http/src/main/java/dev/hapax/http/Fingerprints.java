package dev.hapax.http;

import dev.hapax.store.Fingerprint;
import java.util.List;

/**
 * What makes two requests the same: method, path, query, content type and body. Each is prefixed with its length, so
 * that nothing can be moved from one to the next.
 */
final class Fingerprints {
    private Fingerprints() {}

    /** @throws ProblemException when the body means different things to different readers */
    static Fingerprint of(Content content, Match match) {
        FingerprintRule rule = match.route().policy().fingerprint();
        Hashing hash = Hashing.with(rule.secret())
                .add(match.route().method())
                .add(match.path())
                .add(content.request().query())
                .add(content.coding());
        addType(hash, content);
        Bodies.add(hash, content, members(rule, match.route().key()));
        return Fingerprint.ofDigest(hash.digest());
    }

    private static List<JsonPointer> members(FingerprintRule rule, KeySource key) {
        return rule.members().isEmpty() && key instanceof KeySource.BodyHash hash ? hash.members() : rule.members();
    }

    /** Boundaries are made anew for every attempt, and JSON is UTF-8 whether somebody says so or not. */
    private static void addType(Hashing hash, Content content) {
        MediaType type = content.type();
        hash.add(type.type());
        if (type.type().isEmpty()) {
            content.request().headers().all("Content-Type").forEach(hash::add);
        }
        type.parameters().forEach((name, value) -> {
            boolean boundary = name.equals("boundary") && type.isMultipart();
            boolean charset = name.equals("charset");
            if (!boundary && !(charset && type.isJson())) {
                hash.add(name).add(charset ? value.toLowerCase(java.util.Locale.ROOT) : value);
            }
        });
        hash.add("");
    }
}
