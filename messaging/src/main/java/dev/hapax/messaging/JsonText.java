package dev.hapax.messaging;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Reads one text or number out of JSON, without making objects of the rest. Needs {@code jackson-core}. Immutable. */
public final class JsonText {
    private final JsonFactory factory = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private final JsonPointer pointer;

    private JsonText(JsonPointer pointer) {
        this.pointer = pointer;
    }

    /**
     * @param pointer such as {@code /payment/id}, as in RFC 6901
     * @throws IllegalArgumentException when it is not a pointer
     */
    public static JsonText at(String pointer) {
        return new JsonText(JsonPointer.compile(pointer));
    }

    /**
     * The text or number that is there, as it is written; {@code null} where there is nothing, or {@code null}.
     *
     * @throws IllegalArgumentException when something else is there: an object, an array or a boolean
     * @throws UncheckedIOException when the bytes are not JSON
     */
    public @Nullable String in(byte[] json) {
        try (JsonParser parser = factory.createParser(json)) {
            String found = find(parser);
            JsonToken rest;
            do {
                rest = parser.nextToken(); // a document that breaks off, or says a member twice, has no key
            } while (rest != null);
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable String find(JsonParser parser) throws IOException {
        JsonPointer rest = pointer;
        JsonToken token = parser.nextToken();
        while (token != null && rest != null && !rest.matches()) {
            rest = token == JsonToken.START_OBJECT
                    ? member(parser, rest)
                    : token == JsonToken.START_ARRAY ? element(parser, rest) : null;
            token = parser.currentToken();
        }
        return rest == null || token == null || token == JsonToken.VALUE_NULL ? null : text(parser, token);
    }

    private String text(JsonParser parser, JsonToken token) throws IOException {
        if (token == JsonToken.VALUE_STRING || token.isNumeric()) {
            return parser.getText();
        }
        String found = token.isBoolean() ? "a boolean" : token == JsonToken.START_ARRAY ? "an array" : "an object";
        throw new IllegalArgumentException(
                "\"%s\" is %s; only a text or a number can be read".formatted(pointer, found));
    }

    private static @Nullable JsonPointer member(JsonParser parser, JsonPointer rest) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            JsonPointer tail = rest.matchProperty(parser.currentName());
            parser.nextToken();
            if (tail != null) {
                return tail;
            }
            parser.skipChildren();
        }
        return null;
    }

    private static @Nullable JsonPointer element(JsonParser parser, JsonPointer rest) throws IOException {
        for (int index = 0; parser.nextToken() != JsonToken.END_ARRAY; index++) {
            JsonPointer tail = rest.matchElement(index);
            if (tail != null) {
                return tail;
            }
            parser.skipChildren();
        }
        return null;
    }
}
