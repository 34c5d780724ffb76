package dev.hapax.http.servlet;

import dev.hapax.http.Headers;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Takes a {@code multipart/form-data} body apart. */
final class FormParts {
    private static final Pattern BOUNDARY =
            Pattern.compile(";\\s*boundary\\s*=\\s*(?:\"([^\"]+)\"|([^;\\s\"]+))", Pattern.CASE_INSENSITIVE);
    private static final byte[] BLANK_LINE = {'\r', '\n', '\r', '\n'};

    private final byte[] body;
    private final ServletContext context;

    private FormParts(byte[] body, ServletContext context) {
        this.body = body;
        this.context = context;
    }

    /** @throws ServletException when the body is not what the content type says */
    static List<BufferedPart> parse(String contentType, byte[] body, ServletContext context) throws ServletException {
        Matcher boundary = BOUNDARY.matcher(contentType);
        if (!boundary.find()) {
            throw new ServletException("the content type has no boundary");
        }
        String text = boundary.group(1) == null ? boundary.group(2) : boundary.group(1);
        return new FormParts(body, context).parse(("--" + text).getBytes(StandardCharsets.ISO_8859_1));
    }

    private List<BufferedPart> parse(byte[] delimiter) throws ServletException {
        List<BufferedPart> parts = new ArrayList<>();
        int from = indexOf(delimiter, 0);
        if (from < 0 || (from > 0 && body[from - 1] != '\n')) {
            throw broken();
        }
        byte[] next = concat(new byte[] {'\r', '\n'}, delimiter);
        from += delimiter.length;
        while (!startsWith("--", from)) {
            int head = endOfLine(from);
            int end = indexOf(next, head - 2);
            if (end < 0) {
                throw broken();
            }
            parts.add(part(head, end));
            from = end + next.length;
        }
        return parts;
    }

    /** After a delimiter there may be white space, and then the line ends. */
    private int endOfLine(int from) throws ServletException {
        int at = from;
        while (at < body.length && (body[at] == ' ' || body[at] == '\t')) {
            at++;
        }
        if (!startsWith("\r\n", at)) {
            throw broken();
        }
        return at + 2;
    }

    private BufferedPart part(int from, int end) throws ServletException {
        int content = startsWith("\r\n", from) ? from + 2 : indexOf(BLANK_LINE, from) + BLANK_LINE.length;
        if (content < from + 2 || content > end + 2) {
            throw broken();
        }
        Headers headers = headers(new String(body, from, Math.max(0, content - 2 - from), StandardCharsets.UTF_8));
        byte[] bytes = Arrays.copyOfRange(body, Math.min(content, end), end);
        return BufferedPart.of(headers, bytes, context).orElseThrow(FormParts::broken);
    }

    private static Headers headers(String lines) throws ServletException {
        List<Headers.Field> fields = new ArrayList<>();
        for (String line : lines.split("\r\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.add(new Headers.Field(
                        line.substring(0, colon).strip(),
                        line.substring(colon + 1).strip()));
            } else if (!line.isEmpty()) {
                throw broken();
            }
        }
        return new Headers(fields);
    }

    private boolean startsWith(String text, int at) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return at + bytes.length <= body.length && Arrays.equals(body, at, at + bytes.length, bytes, 0, bytes.length);
    }

    private int indexOf(byte[] wanted, int from) {
        for (int at = from; at <= body.length - wanted.length; at++) {
            if (Arrays.equals(body, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        return -1;
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static ServletException broken() {
        return new ServletException("the body is not multipart/form-data");
    }
}
