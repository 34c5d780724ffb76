package dev.hapax.http;

import java.util.List;
import java.util.Locale;

/** The media type of a message. */
record MediaType(String type) {
    static MediaType of(Headers headers) {
        List<String> lines = headers.all("Content-Type");
        if (lines.size() != 1) {
            return new MediaType("");
        }
        String line = lines.get(0);
        int semicolon = line.indexOf(';');
        return new MediaType(
                (semicolon < 0 ? line : line.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT));
    }

    boolean isJson() {
        return type.equals("application/json") || type.endsWith("+json");
    }
}
