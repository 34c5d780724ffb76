package dev.hapax.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A way to a member of a JSON document: RFC 6901. Immutable. */
public final class JsonPointer {
    private final String text;
    private final List<Token> tokens;

    private JsonPointer(String text, List<Token> tokens) {
        this.text = text;
        this.tokens = List.copyOf(tokens);
    }

    /**
     * One step of the way.
     *
     * @param utf8 the name of a member
     * @param index the place in an array; -1 if it is none
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Token(byte[] utf8, int index) {}

    /** @throws IllegalArgumentException that says what is wrong with the text */
    public static JsonPointer of(String text) {
        if (!text.isEmpty() && !text.startsWith("/")) {
            throw new IllegalArgumentException("JSON pointer \"" + text + "\" does not begin with a slash");
        }
        List<Token> tokens = new ArrayList<>();
        if (!text.isEmpty()) {
            for (String token : text.substring(1).split("/", -1)) {
                String name = unescape(text, token);
                tokens.add(new Token(name.getBytes(StandardCharsets.UTF_8), index(name)));
            }
        }
        return new JsonPointer(text, tokens);
    }

    private static String unescape(String text, String token) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < token.length(); i++) {
            char c = token.charAt(i);
            if (c == '~') {
                i++;
                if (i == token.length() || (token.charAt(i) != '0' && token.charAt(i) != '1')) {
                    throw new IllegalArgumentException(
                            "JSON pointer \"" + text + "\" has a ~ before something other than 0 and 1");
                }
                c = token.charAt(i) == '0' ? '~' : '/';
            }
            name.append(c);
        }
        return name.toString();
    }

    private static int index(String name) {
        boolean number = !name.isEmpty()
                && name.length() <= 9
                && name.chars().allMatch(c -> c >= '0' && c <= '9')
                && (name.length() == 1 || name.charAt(0) != '0');
        return number ? Integer.parseInt(name) : -1;
    }

    /** As it was given. */
    public String text() {
        return text;
    }

    List<Token> tokens() {
        return tokens;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JsonPointer that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
