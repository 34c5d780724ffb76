package dev.hapax.http;

import java.util.List;
import java.util.Optional;

/** Reads a key from a header: RFC 8941's String, or a bare key. */
final class KeyHeader {
    /** A bare key with one of these could as well be a list, a parameter, or half a string. */
    private static final String NOT_BARE = "\",;";

    private KeyHeader() {}

    static Optional<String> read(Headers headers, KeySource.Header source) {
        List<String> lines = headers.all(source.name());
        if (lines.isEmpty()) {
            return Optional.empty();
        } else if (lines.size() > 1) {
            throw invalid(source, "was sent " + lines.size() + " times");
        }
        String value = trim(lines.get(0));
        if (value.isEmpty()) {
            throw invalid(source, "is empty");
        } else if (value.charAt(0) == '"') {
            return Optional.of(Keys.require(string(value, source)));
        } else if (source.strict()) {
            throw invalid(source, "is not a string in double quotes");
        }
        return Optional.of(bare(value, source));
    }

    /** Optional white space around a field's value is not part of it. */
    private static String trim(String value) {
        int from = 0;
        int to = value.length();
        while (from < to && isBlank(value.charAt(from))) {
            from++;
        }
        while (to > from && isBlank(value.charAt(to - 1))) {
            to--;
        }
        return value.substring(from, to);
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    private static String string(String value, KeySource.Header source) {
        StringBuilder key = new StringBuilder(value.length());
        for (int i = 1; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"') {
                if (i != value.length() - 1) {
                    throw invalid(source, "goes on after the string");
                }
                return key.toString();
            } else if (c == '\\') {
                i++;
                if (i == value.length() || (value.charAt(i) != '"' && value.charAt(i) != '\\')) {
                    throw invalid(source, "has a backslash before something other than \" and \\");
                }
            }
            key.append(value.charAt(i));
        }
        throw invalid(source, "has no closing quote");
    }

    private static String bare(String value, KeySource.Header source) {
        for (int i = 0; i < value.length(); i++) {
            if (NOT_BARE.indexOf(value.charAt(i)) >= 0) {
                throw invalid(source, "has a quote, comma or semicolon in a key without quotes around it");
            }
        }
        return Keys.require(value);
    }

    private static ProblemException invalid(KeySource.Header source, String what) {
        return new ProblemException(Problem.KEY_INVALID, "the header " + source.name() + " " + what);
    }
}
