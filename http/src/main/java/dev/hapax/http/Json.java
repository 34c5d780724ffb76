package dev.hapax.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** JSON as this layer reads and writes it. */
final class Json {
    static final int MAX_DEPTH = 100;
    static final int MAX_NUMBER_LENGTH = 1000;

    /** Names are not interned: they are other people's, and there is no end of them. */
    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(MAX_NUMBER_LENGTH)
                    .build())
            .build();

    private Json() {}

    static JsonParser parser(byte[] bytes) throws IOException {
        return FACTORY.createParser(bytes);
    }

    /** Whether a parser may be trusted with the bytes: it guesses encodings, and lets some broken UTF-8 pass. */
    static boolean mayBeJson(byte[] bytes) {
        for (int i = 0; i < Math.min(4, bytes.length); i++) {
            if (bytes[i] == 0) {
                return false;
            }
        }
        return Utf8.isValid(bytes);
    }

    /** Whether the bytes are one JSON value in UTF-8, and nothing else. */
    static boolean isJson(byte[] bytes) {
        if (!mayBeJson(bytes)) {
            return false;
        }
        try (JsonParser parser = parser(bytes)) {
            return parser.nextToken() != null && parser.skipChildren() != null && parser.nextToken() == null;
        } catch (IOException | RuntimeException broken) {
            return false;
        }
    }

    interface Writing {
        void to(JsonGenerator json) throws IOException;
    }

    static byte[] write(Writing writing) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
        try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
            writing.to(json);
        } catch (IOException e) {
            throw new UncheckedIOException("written to memory", e);
        }
        return bytes.toByteArray();
    }
}
