package dev.hapax.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A pattern of paths: {@code /v1/orders/{order_id}/invoice}. A name in braces stands for one segment, {@code **} at the
 * end for any rest, none included. Immutable.
 *
 * <p>Everything else stands for itself, in letters of either case, with or without a slash at the end. The last segment
 * may carry the suffix of a format, such as {@code .json}, because there are servers that read it as the same path.
 */
public final class PathPattern {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
    private static final Pattern LITERAL = Pattern.compile("[A-Za-z0-9_~!$&'()+,=:@.-]+");
    private static final Set<String> FORMATS = Set.of(
            "json", "xml", "html", "htm", "txt", "csv", "js", "yaml", "yml", "pdf", "atom", "rss", "do", "action");

    private final String text;
    private final List<Segment> segments;
    private final boolean anyRest;

    private PathPattern(String text, List<Segment> segments, boolean anyRest) {
        this.text = text;
        this.segments = List.copyOf(segments);
        this.anyRest = anyRest;
    }

    /** @throws IllegalArgumentException that says what is wrong with the text */
    public static PathPattern of(String text) {
        if (!text.startsWith("/")) {
            throw refused(text, "it does not begin with a slash");
        } else if (text.contains("//")) {
            throw refused(text, "it has an empty segment");
        }
        String inner =
                text.length() > 1 && text.endsWith("/") ? text.substring(1, text.length() - 1) : text.substring(1);
        boolean anyRest = inner.equals("**") || inner.endsWith("/**");
        String fixed = anyRest ? inner.substring(0, Math.max(0, inner.length() - "/**".length())) : inner;
        List<Segment> segments = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (String part : fixed.isEmpty() ? new String[0] : fixed.split("/", -1)) {
            Segment segment = segment(text, part);
            if (segment.named() && !names.add(segment.text())) {
                throw refused(text, "the name \"" + segment.text() + "\" is there twice");
            }
            segments.add(segment);
        }
        return new PathPattern(text, segments, anyRest);
    }

    private static Segment segment(String text, String part) {
        if (part.startsWith("{") && part.endsWith("}")) {
            String name = part.substring(1, part.length() - 1);
            if (!NAME.matcher(name).matches()) {
                throw refused(text, "\"" + part + "\" does not hold a name of letters, digits, _ and -");
            }
            return new Segment(name, true);
        }
        if (part.contains("*")) {
            throw refused(text, "* stands only as ** at the end; use {name} for one segment");
        } else if (part.contains("{") || part.contains("}")) {
            throw refused(text, "braces enclose a whole segment");
        } else if (!LITERAL.matcher(part).matches()) {
            throw refused(
                    text,
                    "\"" + part + "\" holds something other than the plain characters of a path; nothing"
                            + " is written with % here");
        } else if (part.endsWith(".")) {
            throw refused(text, "a segment ends with a dot");
        }
        return new Segment(part, false);
    }

    private static IllegalArgumentException refused(String text, String why) {
        return new IllegalArgumentException("path pattern \"" + text + "\": " + why);
    }

    /** As it was given. */
    public String text() {
        return text;
    }

    /** The names in braces. */
    public Set<String> names() {
        Set<String> names = new HashSet<>();
        segments.stream().filter(Segment::named).forEach(segment -> names.add(segment.text()));
        return names;
    }

    List<Segment> segments() {
        return segments;
    }

    boolean anyRest() {
        return anyRest;
    }

    /** What stands for the names, if the decoded segments of a path fit. */
    Optional<Map<String, String>> match(List<String> path) {
        if (path.size() < segments.size() || (path.size() > segments.size() && !anyRest)) {
            return Optional.empty();
        }
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (segment.named()) {
                values.put(segment.text(), path.get(i));
            } else if (!segment.reads(path.get(i))) {
                return Optional.empty();
            }
        }
        return Optional.of(values);
    }

    /** The one spelling of a path that fits: the literals as they stand in the pattern, the rest as it came. */
    String normal(List<String> path) {
        StringBuilder normal = new StringBuilder();
        for (int i = 0; i < path.size(); i++) {
            boolean literal = i < segments.size() && !segments.get(i).named();
            normal.append('/').append(Percent.encode(literal ? segments.get(i).spell(path.get(i)) : path.get(i)));
        }
        return normal.isEmpty() ? "/" : normal.toString();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PathPattern that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }

    /** One segment: a name that stands for any, or a text that stands for itself. */
    record Segment(String text, boolean named) {

        /** Whether somebody may read a decoded segment of a path as this literal. */
        boolean reads(String segment) {
            return segment.length() == text.length()
                    ? segment.equalsIgnoreCase(text)
                    : segment.length() > text.length() && hasFormat(segment);
        }

        private boolean hasFormat(String segment) {
            return segment.charAt(text.length()) == '.'
                    && segment.regionMatches(true, 0, text, 0, text.length())
                    && FORMATS.contains(segment.substring(text.length() + 1).toLowerCase(Locale.ROOT));
        }

        String spell(String segment) {
            return text + segment.substring(text.length()).toLowerCase(Locale.ROOT);
        }
    }
}
