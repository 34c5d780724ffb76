package dev.hapax.examples.orders;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * An order: what the client is answered, and what the mail service is told.
 *
 * @param reference what the client calls it
 * @param amount in cents
 */
record Order(long id, String reference, String customer, long amount) {
    private static final ObjectMapper JSON = new ObjectMapper();

    String json() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    byte[] bytes() {
        return json().getBytes(StandardCharsets.UTF_8);
    }

    static Order read(byte[] json) throws IOException {
        return JSON.readValue(json, Order.class);
    }
}
