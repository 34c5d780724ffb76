package dev.hapax.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** JSON as this layer reads and writes it. */
final class Json {
    private static final JsonFactory FACTORY = new JsonFactoryBuilder().build();

    private Json() {}

    /** Whether the bytes are one JSON value in UTF-8, and nothing else. */
    static boolean isJson(byte[] bytes) {
        if (!Utf8.isValid(bytes) || Utf8.hasNulAtStart(bytes)) {
            return false;
        }
        try (JsonParser parser = FACTORY.createParser(bytes)) {
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
