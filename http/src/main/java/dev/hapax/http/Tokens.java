package dev.hapax.http;

/** Tokens, as RFC 9110 has them: methods, the names of fields. */
final class Tokens {
    private static final String OTHERS = "!#$%&'*+-.^_`|~";

    private Tokens() {}

    static boolean isToken(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!letter && !(c >= '0' && c <= '9') && OTHERS.indexOf(c) < 0) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /** @throws IllegalArgumentException unless it is the name of a field */
    static String requireFieldName(String name) {
        if (!isToken(name)) {
            throw new IllegalArgumentException("\"" + name + "\" is not the name of a header");
        }
        return name;
    }
}
