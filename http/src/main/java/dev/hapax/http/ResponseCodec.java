package dev.hapax.http;

import dev.hapax.codec.Codec;
import dev.hapax.codec.NotKeptException;
import dev.hapax.store.Payload;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Responses as they are stored: the status as the code, the kept headers as lines of {@code Name: value}, the body as
 * it was.
 */
final class ResponseCodec implements Codec<HttpResponse> {
    private final HttpPolicy policy;

    ResponseCodec(HttpPolicy policy) {
        this.policy = policy;
    }

    @Override
    public Payload encode(HttpResponse response) throws NotKeptException {
        if (response.rest() != null) {
            throw new NotKeptException(response.status(), "the response is larger than what is kept");
        }
        return write(response, policy.storedHeaders());
    }

    /** @param more the headers to keep besides the usual ones */
    static Payload write(HttpResponse response, Set<String> more) {
        StringBuilder lines = new StringBuilder();
        for (Headers.Field field : StoredHeaders.of(response.headers(), more)) {
            lines.append(field.name())
                    .append(": ")
                    .append(oneLine(field.value()))
                    .append('\n');
        }
        return new Payload(response.status(), lines.toString().getBytes(StandardCharsets.UTF_8), response.body());
    }

    /** A value that holds the end of a line could make two headers of one. */
    private static String oneLine(String value) {
        return value.replace('\r', ' ').replace('\n', ' ').replace('\0', ' ');
    }

    @Override
    public HttpResponse decode(Payload payload) {
        return read(payload);
    }

    static HttpResponse read(Payload payload) {
        String lines = new String(payload.headers(), StandardCharsets.UTF_8);
        List<Headers.Field> fields = new ArrayList<>();
        int from = 0;
        while (from < lines.length()) {
            int colon = lines.indexOf(": ", from);
            int end = lines.indexOf('\n', from);
            if (colon < 0 || end < colon) {
                throw new IllegalArgumentException("these are not stored headers");
            }
            fields.add(new Headers.Field(lines.substring(from, colon), lines.substring(colon + 2, end)));
            from = end + 1;
        }
        return new HttpResponse(payload.code(), new Headers(fields), payload.body());
    }
}
