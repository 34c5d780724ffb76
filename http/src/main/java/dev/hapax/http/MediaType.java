package dev.hapax.http;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The media type of a message, as its one {@code Content-Type} says.
 *
 * @param type type and subtype in small letters; empty where there is none, or more than one, or nobody can read it
 * @param parameters by their names in small letters
 */
record MediaType(String type, Map<String, String> parameters) {
    private static final MediaType NONE = new MediaType("", Map.of());

    static MediaType of(Headers headers) {
        List<String> lines = headers.all("Content-Type");
        return lines.size() == 1 ? of(lines.get(0)) : NONE;
    }

    static MediaType of(String line) {
        int semicolon = line.indexOf(';');
        String type =
                (semicolon < 0 ? line : line.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT);
        int slash = type.indexOf('/');
        if (slash < 0 || !Tokens.isToken(type.substring(0, slash)) || !Tokens.isToken(type.substring(slash + 1))) {
            return NONE;
        }
        if (semicolon < 0) {
            return new MediaType(type, Map.of());
        }
        Map<String, String> parameters = new TreeMap<>();
        return parameters(line, semicolon, parameters) ? new MediaType(type, parameters) : NONE;
    }

    /** @return whether all of them could be read, and none twice */
    private static boolean parameters(String line, int from, Map<String, String> parameters) {
        int at = from;
        while (at < line.length()) {
            at = skipBlanks(line, at + 1);
            int equals = line.indexOf('=', at);
            if (at == line.length() || line.charAt(at) == ';') {
                continue;
            } else if (equals < 0 || !Tokens.isToken(line.substring(at, equals))) {
                return false;
            }
            String name = line.substring(at, equals).toLowerCase(Locale.ROOT);
            StringBuilder value = new StringBuilder();
            at = value(line, equals + 1, value);
            if (at < 0 || parameters.put(name, value.toString()) != null) {
                return false;
            }
        }
        return true;
    }

    /** @return where the next semicolon is, or the end; -1 if there is something else */
    private static int value(String line, int from, StringBuilder value) {
        int at = from;
        if (at < line.length() && line.charAt(at) == '"') {
            at = quoted(line, at, value);
            if (at < 0) {
                return -1;
            }
        } else {
            while (at < line.length() && line.charAt(at) != ';' && line.charAt(at) != ' ' && line.charAt(at) != '\t') {
                value.append(line.charAt(at++));
            }
            if (!Tokens.isToken(value.toString())) {
                return -1;
            }
        }
        at = skipBlanks(line, at);
        return at == line.length() || line.charAt(at) == ';' ? at : -1;
    }

    private static int quoted(String line, int quote, StringBuilder value) {
        for (int at = quote + 1; at < line.length(); at++) {
            char c = line.charAt(at);
            if (c == '"') {
                return at + 1;
            } else if (c == '\\' && ++at == line.length()) {
                return -1;
            }
            value.append(line.charAt(at));
        }
        return -1;
    }

    private static int skipBlanks(String line, int from) {
        int at = from;
        while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
            at++;
        }
        return at;
    }

    /** JSON in UTF-8, which is what JSON is in unless somebody says otherwise. */
    boolean isJson() {
        boolean json = type.equals("application/json") || type.equals("text/json") || type.endsWith("+json");
        return json && isUtf8();
    }

    /** Whether nothing else than UTF-8 is said. */
    boolean isUtf8() {
        String charset = parameters.getOrDefault("charset", "utf-8");
        return charset.equalsIgnoreCase("utf-8") || charset.equalsIgnoreCase("utf8");
    }

    boolean isMultipart() {
        return type.startsWith("multipart/") && parameters.containsKey("boundary");
    }

    String boundary() {
        return parameters.getOrDefault("boundary", "");
    }
}
