package dev.hapax.http.servlet;

import dev.hapax.http.Headers;
import dev.hapax.http.Headers.Field;
import jakarta.servlet.http.Cookie;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The status and the headers that a servlet sets. What frames the message is for whoever sends it. */
final class ResponseHead {
    private final List<Field> fields = new ArrayList<>();
    private final List<Cookie> cookies = new ArrayList<>();
    private final ContentType contentType;
    private int status = 200;
    private long length = -1;

    ResponseHead(String charset) {
        this.contentType = new ContentType(charset);
    }

    int status() {
        return status;
    }

    void setStatus(int status) {
        this.status = status;
    }

    ContentType contentType() {
        return contentType;
    }

    /** How long the servlet says that the body will be; negative when it does not. */
    long length() {
        return length;
    }

    void setLength(long length) {
        this.length = length;
    }

    List<Cookie> cookies() {
        return cookies;
    }

    /** In place of all that the name had; an empty value removes it. */
    void set(String name, @Nullable String value) {
        if (isSpecial(name, value)) {
            return;
        }
        fields.removeIf(field -> field.name().equalsIgnoreCase(name));
        if (value != null) {
            fields.add(new Field(name, value));
        }
    }

    void add(String name, @Nullable String value) {
        if (!isSpecial(name, value) && value != null) {
            fields.add(new Field(name, value));
        }
    }

    private boolean isSpecial(String name, @Nullable String value) {
        switch (name.toLowerCase(Locale.ROOT)) {
            case "content-type" -> contentType.set(value);
            case "content-length" -> setLength(lengthOf(value));
            case "", "transfer-encoding" -> {}
            default -> {
                return false;
            }
        }
        return true;
    }

    private static long lengthOf(@Nullable String value) {
        try {
            return value == null ? -1 : Long.parseLong(value.strip());
        } catch (NumberFormatException notOne) {
            return -1;
        }
    }

    List<String> all(String name) {
        return headers().all(name);
    }

    Set<String> names() {
        Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        headers().fields().forEach(field -> names.add(field.name()));
        return names;
    }

    Headers headers() {
        String type = contentType.value();
        Headers headers = new Headers(fields);
        return type == null ? headers : headers.with("Content-Type", type);
    }

    void clear() {
        fields.clear();
        cookies.clear();
        contentType.clear();
        length = -1;
        status = 200;
    }
}
