package dev.hapax.gateway.config;

import dev.hapax.http.JsonPointer;
import dev.hapax.http.KeySource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** The ways to say where a key comes from: {@code header}, {@code body /id}, {@code natural {order_id}} and so on. */
final class KeyForms {
    private static final String EXPECTED =
            "header, strict header, body /pointer, natural {name} /pointer, or body-hash";
    private static final byte[] NO_SECRET = new byte[0];

    private static final Setting<List<String>> NATURAL_PATH = Setting.optional(
            "path",
            new ListOf<>(new Scalar<>("a name in the route's path", (text, origin) -> text)),
            "Names in the route's path");
    private static final Setting<List<JsonPointer>> NATURAL_BODY =
            Setting.optional("body", new ListOf<>(Scalars.POINTER), "Members of a JSON body");

    private static final Setting<List<JsonPointer>> HASH_MEMBERS = Setting.optional(
            "members", new ListOf<>(Scalars.POINTER), "The members of a JSON body that count; all of it unless set");
    private static final Setting<String> INTENT_HEADER = Setting.of(
            "intent-header",
            Scalars.HEADER_NAME,
            KeySource.BodyHash.DEFAULT_INTENT_HEADER,
            "A header whose value sets a deliberate repeat apart from a retry");
    private static final Setting<byte[]> HASH_SECRET =
            Setting.optional("secret", Scalars.SECRET, "The key of the hash, so that nobody can guess bodies from it");

    private static final Setting<String> HEADER =
            Setting.optional("header", Scalars.HEADER_NAME, "The key is in this header");
    private static final Setting<Boolean> STRICT = Setting.optional(
            "strict", Scalars.YES_OR_NO, "Whether the header must be a quoted string, as the IETF draft has it");
    private static final Setting<JsonPointer> BODY =
            Setting.optional("body", Scalars.POINTER, "The key is this member of a JSON body");
    private static final Setting<KeySource> NATURAL = Setting.optional(
            "natural",
            Section.of("path and body", KeyForms::natural, NATURAL_PATH, NATURAL_BODY),
            "The key is made of values that identify the operation already");
    private static final Setting<KeySource> BODY_HASH = Setting.optional(
            "body-hash",
            Section.of(
                    "members, intent-header and secret", KeyForms::bodyHash, HASH_MEMBERS, INTENT_HEADER, HASH_SECRET),
            "The key is a hash of the body; needs a window");

    static final Shape<KeySource> SHAPE = new Either<>(
            new Scalar<>(EXPECTED, (text, origin) -> parse(Scalars.split(text))),
            Section.of(EXPECTED, KeyForms::one, HEADER, STRICT, BODY, NATURAL, BODY_HASH));

    private KeyForms() {}

    private static KeySource parse(List<String> words) {
        boolean strict = words.get(0).equals("strict") && words.size() > 1;
        List<String> rest = words.subList(strict ? 2 : 1, words.size());
        return switch (strict ? words.get(1) : words.get(0)) {
            case "header" -> header(rest, strict);
            case "body" -> {
                require(!strict && rest.size() == 1, "after body comes one JSON pointer, as in body /delivery_id");
                yield new KeySource.PayloadField(Scalars.pointer(rest.get(0)));
            }
            case "natural" -> {
                require(!strict && !rest.isEmpty(), "after natural comes what identifies it, as in natural {order_id}");
                yield natural(rest);
            }
            case "body-hash" -> {
                require(!strict, "strict goes with header only");
                yield new KeySource.BodyHash(pointers(rest), KeySource.BodyHash.DEFAULT_INTENT_HEADER, NO_SECRET);
            }
            default ->
                throw new IllegalArgumentException(EXPECTED + " is needed"
                        + Suggestions.hint(words.get(0), List.of("header", "body", "natural", "body-hash")));
        };
    }

    private static KeySource header(List<String> names, boolean strict) {
        require(names.size() <= 1, "after header comes at most one name");
        String name = names.isEmpty() ? KeySource.Header.DEFAULT.name() : Scalars.headerName(names.get(0));
        return new KeySource.Header(name, strict);
    }

    private static KeySource natural(List<String> words) {
        List<String> names = new ArrayList<>();
        List<JsonPointer> members = new ArrayList<>();
        for (String word : words) {
            if (word.startsWith("{") && word.endsWith("}")) {
                names.add(word.substring(1, word.length() - 1));
            } else {
                members.add(Scalars.pointer(word));
            }
        }
        return new KeySource.Natural(names, members);
    }

    private static KeySource natural(Values values) {
        List<String> names = values.find(NATURAL_PATH).orElse(List.of());
        List<JsonPointer> members = values.find(NATURAL_BODY).orElse(List.of());
        if (names.isEmpty() && members.isEmpty()) {
            throw new IllegalArgumentException("say what identifies the operation, as in path: [order_id]");
        }
        return new KeySource.Natural(names, members);
    }

    private static KeySource bodyHash(Values values) {
        return new KeySource.BodyHash(
                values.find(HASH_MEMBERS).orElse(List.of()),
                values.get(INTENT_HEADER),
                values.find(HASH_SECRET).orElse(NO_SECRET));
    }

    private static KeySource one(Values values) {
        boolean strict = values.find(STRICT).orElse(false);
        List<KeySource> said = Stream.of(
                        values.find(HEADER).<KeySource>map(name -> new KeySource.Header(name, strict)),
                        values.find(BODY).<KeySource>map(KeySource.PayloadField::new),
                        values.find(NATURAL),
                        values.find(BODY_HASH))
                .flatMap(java.util.Optional::stream)
                .toList();
        if (said.size() != 1) {
            throw new IllegalArgumentException("one of header, body, natural and body-hash is needed");
        }
        if (strict && !values.has(HEADER)) {
            values.refuse(STRICT, "strict goes with header only; leave it out");
        }
        return said.get(0);
    }

    private static List<JsonPointer> pointers(List<String> words) {
        Function<String, JsonPointer> pointer = Scalars::pointer;
        return words.stream().map(pointer).toList();
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
