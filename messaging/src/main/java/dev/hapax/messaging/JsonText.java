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
     * What is there, as it is written; {@code null} where there is nothing, {@code null}, or something else than a text
     * or a number.
     *
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
        boolean scalar = token == JsonToken.VALUE_STRING || (token != null && token.isNumeric());
        return rest != null && scalar ? parser.getText() : null;
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
