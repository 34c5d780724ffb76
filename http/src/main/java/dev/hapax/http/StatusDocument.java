package dev.hapax.http;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** An operation as its own tenant sees it: when it began, how far it is, and what a retry would be answered. */
final class StatusDocument {
    private StatusDocument() {}

    static byte[] of(Snapshot operation) {
        return Json.write(json -> {
            Snapshot.Times times = operation.times();
            json.writeStartObject();
            json.writeStringField("id", operation.id().toString());
            json.writeStringField("scope", operation.key().scope());
            json.writeStringField("state", operation.state().name().toLowerCase(Locale.ROOT));
            json.writeNumberField("attempt", operation.attempt());
            time(json, "created_at", times.createdAt());
            time(json, "claimed_at", times.claimedAt());
            time(json, "finished_at", times.finishedAt());
            if (operation.state().isTerminal()) {
                time(json, "expires_at", times.deadline());
            }
            Result result = operation.result();
            if (result != null) {
                json.writeObjectFieldStart("response");
                response(json, operation, result);
                json.writeEndObject();
            }
            json.writeEndObject();
        });
    }

    private static void time(JsonGenerator json, String name, @Nullable Instant time) throws IOException {
        if (time != null) {
            json.writeStringField(name, time.toString());
        }
    }

    private static void response(JsonGenerator json, Snapshot operation, Result result) throws IOException {
        Payload payload = result.payload();
        if (payload != null) {
            kept(json, ResponseCodec.read(payload));
        } else if (result.state() == State.FAILED) {
            kept(json, Answers.failed(result.code(), operation.id()));
        } else {
            json.writeNumberField("status", result.code());
            json.writeBooleanField("stored", false);
        }
    }

    private static void kept(JsonGenerator json, HttpResponse response) throws IOException {
        json.writeNumberField("status", response.status());
        json.writeObjectFieldStart("headers");
        Headers headers = response.headers();
        for (String name : names(headers)) {
            json.writeStringField(name, String.join(", ", headers.all(name)));
        }
        json.writeEndObject();
        body(json, response);
    }

    private static Set<String> names(Headers headers) {
        Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        headers.fields().forEach(field -> names.add(field.name()));
        return names;
    }

    /** JSON as it is, text as text, anything else in base64; {@code body_encoding} says which. */
    private static void body(JsonGenerator json, HttpResponse response) throws IOException {
        byte[] body = response.body();
        boolean readable = !response.headers().contains("Content-Encoding") && Utf8.isValid(body);
        if (readable && MediaType.of(response.headers()).isJson() && Json.isJson(body)) {
            json.writeFieldName("body");
            json.writeRawValue(new String(body, StandardCharsets.UTF_8));
            json.writeStringField("body_encoding", "json");
        } else if (readable) {
            json.writeStringField("body", new String(body, StandardCharsets.UTF_8));
            json.writeStringField("body_encoding", "text");
        } else {
            json.writeBinaryField("body", body);
            json.writeStringField("body_encoding", "base64");
        }
    }
}
