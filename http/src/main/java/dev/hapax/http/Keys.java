package dev.hapax.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How keys are read, and the rules for every one of them. */
final class Keys {
    private static final int MAX_LENGTH = 255;
    private static final byte[] UNKEYED = {};

    private Keys() {}

    /** As {@link KeySource#keyOf}, on a body that is read only once. */
    static Optional<String> of(KeySource source, Content content, Match match) {
        if (source instanceof KeySource.Header header) {
            return KeyHeader.read(content.request().headers(), header);
        } else if (source instanceof KeySource.PayloadField field) {
            return value(content, field.pointer()).map(Keys::require);
        } else if (source instanceof KeySource.Natural natural) {
            return natural(natural, content, match);
        }
        return Optional.of(bodyHash((KeySource.BodyHash) source, content, match));
    }

    /** Where a source looks, for people. */
    static String place(KeySource source) {
        if (source instanceof KeySource.Header header) {
            return "the header " + header.name();
        } else if (source instanceof KeySource.PayloadField field) {
            return "the body's " + field.pointer();
        } else if (source instanceof KeySource.Natural natural) {
            return "the body's " + natural.members();
        }
        return "the body";
    }

    private static Optional<String> value(Content content, JsonPointer pointer) {
        Optional<CanonicalJson> json = content.requireJson();
        byte kind = json.map(it -> it.kind(pointer)).orElse((byte) 0);
        return switch (kind) {
            case 0, CanonicalJson.NULL -> Optional.empty();
            case CanonicalJson.TEXT, CanonicalJson.NUMBER -> json.flatMap(it -> it.scalar(pointer));
            default ->
                throw new ProblemException(
                        Problem.KEY_INVALID, "the body's %s is neither a string nor a number".formatted(pointer));
        };
    }

    private static Optional<String> natural(KeySource.Natural source, Content content, Match match) {
        List<String> values = new ArrayList<>();
        for (String name : source.pathValues()) {
            String value = match.pathValues().get(name);
            if (value == null) {
                return Optional.empty();
            }
            values.add(value);
        }
        for (JsonPointer pointer : source.members()) {
            Optional<String> value = value(content, pointer);
            if (value.isEmpty()) {
                return Optional.empty();
            }
            if (value.get().isEmpty()) {
                throw new ProblemException(
                        Problem.KEY_INVALID, "the body's %s is empty and identifies nothing".formatted(pointer));
            }
            values.add(value.get());
        }
        return Optional.of(joined(values));
    }

    /** No value holds a slash or a number sign of its own, so nothing else reads like this, nor like the hash. */
    private static String joined(List<String> values) {
        StringBuilder key = new StringBuilder();
        for (String value : values) {
            key.append(key.isEmpty() ? "" : "/");
            for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
                if (b > ' ' && b <= '~' && b != '%' && b != '/' && b != '#') {
                    key.append((char) b);
                } else {
                    key.append("%%%02X".formatted(b));
                }
            }
            if (key.length() > MAX_LENGTH) {
                Hashing hash = Hashing.with(UNKEYED);
                values.forEach(hash::add);
                return "#" + hash.hex();
            }
        }
        return key.toString();
    }

    private static String bodyHash(KeySource.BodyHash source, Content content, Match match) {
        HttpRequest request = content.request();
        Hashing hash = Hashing.with(source.secret())
                .add(match.route().method())
                .add(match.path())
                .add(request.query());
        Bodies.add(hash, content, source.members());
        request.headers().all(source.intentHeader()).forEach(hash::add);
        return "#" + hash.hex();
    }

    /** @throws ProblemException unless it has 1–255 visible ASCII characters */
    static String require(String key) {
        if (key.isEmpty() || key.length() > MAX_LENGTH) {
            throw new ProblemException(
                    Problem.KEY_INVALID,
                    "the key has %d characters; 1 to %d are allowed".formatted(key.length(), MAX_LENGTH));
        }
        for (int i = 0; i < key.length(); i++) {
            if (key.charAt(i) < '!' || key.charAt(i) > '~') {
                throw new ProblemException(
                        Problem.KEY_INVALID, "the key holds something other than visible ASCII characters");
            }
        }
        return key;
    }
}
