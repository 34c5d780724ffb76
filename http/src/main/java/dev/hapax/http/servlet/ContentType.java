package dev.hapax.http.servlet;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The content type of a response and its character encoding, which servlets set in any order until somebody writes with
 * it.
 */
final class ContentType {
    private static final Pattern CHARSET =
            Pattern.compile("\\s*;\\s*charset\\s*=\\s*\"?([^;\"\\s]+)\"?", Pattern.CASE_INSENSITIVE);
    private static final Pattern JSON = Pattern.compile("application/([^;\\s]+\\+)?json", Pattern.CASE_INSENSITIVE);

    private final String otherwise;
    private @Nullable String type;
    private @Nullable String charset;
    private boolean fixed;

    /** @param otherwise the character encoding where nothing says what it is */
    ContentType(String otherwise) {
        this.otherwise = otherwise;
    }

    static boolean isJson(@Nullable String type) {
        return type != null && JSON.matcher(type).lookingAt();
    }

    static boolean isEventStream(@Nullable String type) {
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
    }

    void set(@Nullable String value) {
        if (value == null) {
            type = null;
            setCharset(null);
            return;
        }
        Matcher given = CHARSET.matcher(value);
        if (given.find()) {
            setCharset(given.group(1));
            type = value.substring(0, given.start()) + value.substring(given.end());
        } else {
            type = value;
        }
    }

    void setCharset(@Nullable String name) {
        if (!fixed) {
            charset = name;
        }
    }

    /** JSON is UTF-8 unless somebody insists. */
    String charset() {
        if (charset != null) {
            return charset;
        }
        return isJson(type) ? "UTF-8" : otherwise;
    }

    /** Somebody writes: from here on the encoding stays, and where it is not a matter of course it is told. */
    void fixCharset() {
        if (charset == null && !isJson(type)) {
            charset = otherwise;
        }
        fixed = true;
    }

    void clear() {
        type = null;
        charset = null;
        fixed = false;
    }

    @Nullable
    String value() {
        return type == null || charset == null ? type : type + ";charset=" + charset;
    }
}
