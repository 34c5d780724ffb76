package dev.hapax.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The parts of a {@code multipart} body, in order, without the boundary between them: clients make a new one for every
 * attempt.
 *
 * <p>Only what everybody reads the same way is taken apart: delimiters on lines of their own, lines that end in CR LF,
 * nothing before the first part, nothing but blank lines after the last.
 */
final class Multipart {
    private static final int MAX_PARTS = 1000;
    private static final int MAX_BOUNDARY = 70;
    private static final byte[] LINE_END = {'\r', '\n'};

    private final byte[] body;

    /** Where each part's headers begin, where its content begins, and where it ends, in turns. */
    private final List<Integer> marks;

    private Multipart(byte[] body, List<Integer> marks) {
        this.body = body;
        this.marks = marks;
    }

    /** @return empty if it cannot be taken apart in exactly one way */
    static Optional<Multipart> of(byte[] body, String boundary) {
        if (boundary.isEmpty() || boundary.length() > MAX_BOUNDARY) {
            return Optional.empty();
        }
        byte[] delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
        List<Integer> marks = new ArrayList<>();
        int at = startsWith(body, 0, delimiter, 2) ? delimiter.length - 2 : -1;
        while (at >= 0 && marks.size() <= 3 * MAX_PARTS) {
            if (startsWith(body, at, delimiter, 2, 4)) {
                return isBlank(body, at + 2) && !marks.isEmpty()
                        ? Optional.of(new Multipart(body, marks))
                        : Optional.empty();
            }
            at = part(body, at, delimiter, marks);
        }
        return Optional.empty();
    }

    /** @return where the delimiter after the part ends; -1 if there is no whole part */
    private static int part(byte[] body, int afterDelimiter, byte[] delimiter, List<Integer> marks) {
        int line = afterDelimiter;
        while (line < body.length && (body[line] == ' ' || body[line] == '\t')) {
            line++;
        }
        int content = startsWith(body, line, LINE_END, 0) ? skipHeaders(body, line + 2) : -1;
        int end = content < 0 ? -1 : indexOf(body, delimiter, content);
        // a delimiter right behind the headers, without a blank line of its own, is read in two ways
        if (end < 0 || startsWith(body, content - 2, delimiter, 0)) {
            return -1;
        }
        marks.add(line + 2);
        marks.add(content);
        marks.add(end);
        return end + delimiter.length;
    }

    /** @return where the content begins; -1 if there are other lines than headers before it */
    private static int skipHeaders(byte[] body, int from) {
        int line = from;
        while (!startsWith(body, line, LINE_END, 0)) {
            int end = indexOf(body, LINE_END, line);
            if (end < 0 || !isHeader(body, line, end)) {
                return -1;
            }
            line = end + 2;
        }
        return line + 2;
    }

    private static boolean isHeader(byte[] body, int from, int to) {
        String line = new String(body, from, to - from, StandardCharsets.ISO_8859_1);
        int colon = line.indexOf(':');
        return colon > 0
                && Tokens.isToken(line.substring(0, colon))
                && line.chars().noneMatch(Multipart::endsLine);
    }

    private static boolean endsLine(int c) {
        return c == '\r' || c == '\n' || c == 0;
    }

    private static boolean isBlank(byte[] body, int from) {
        for (int i = from; i < body.length; i++) {
            if (body[i] != '\r' && body[i] != '\n' && body[i] != ' ' && body[i] != '\t') {
                return false;
            }
        }
        return true;
    }

    void addTo(Hashing hash) {
        for (int i = 0; i < marks.size(); i += 3) {
            int headers = marks.get(i);
            int content = marks.get(i + 1);
            int end = marks.get(i + 2);
            hash.add(headers(headers, content));
            hash.add(body, content, end - content);
        }
    }

    /** Names in small letters, nothing around values; the order is kept. */
    private String headers(int from, int to) {
        StringBuilder normal = new StringBuilder();
        for (String line : new String(body, from, to - from, StandardCharsets.ISO_8859_1).split("\r\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                normal.append(line.substring(0, colon).toLowerCase(Locale.ROOT))
                        .append(':')
                        .append(line.substring(colon + 1).strip())
                        .append('\n');
            }
        }
        return normal.toString();
    }

    private static boolean startsWith(byte[] body, int at, byte[] wanted, int from) {
        return startsWith(body, at, wanted, from, wanted.length);
    }

    private static boolean startsWith(byte[] body, int at, byte[] wanted, int from, int to) {
        return at + to - from <= body.length && Arrays.equals(body, at, at + to - from, wanted, from, to);
    }

    private static int indexOf(byte[] body, byte[] wanted, int from) {
        for (int i = from; i <= body.length - wanted.length; i++) {
            if (body[i] == wanted[0] && startsWith(body, i, wanted, 0)) {
                return i;
            }
        }
        return -1;
    }
}
