package dev.hapax.bench;

import java.util.Locale;

/** An SVG in the making: shapes with a style, and text that means only itself. */
final class Markup {
    private final StringBuilder text = new StringBuilder();

    /** Takes markup as it is. */
    Markup raw(String markup) {
        text.append(markup);
        return this;
    }

    Markup rectangle(String style, double x, double y, double width, double height) {
        return add(
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>%n",
                style, x, y, width, height);
    }

    Markup stroke(String style, double x1, double y1, double x2, double y2) {
        return add("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>%n", style, x1, y1, x2, y2);
    }

    Markup circle(String style, double x, double y, double radius) {
        return add("<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>%n", style, x, y, radius);
    }

    /** A path that is drawn from there. */
    Markup path(String style, double x, double y, String path) {
        return add("<path class=\"%s\" transform=\"translate(%.1f %.1f)\" d=\"%s\"/>%n", style, x, y, path);
    }

    Markup text(String style, double x, double y, String content) {
        return add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>%n", style, x, y, escaped(content));
    }

    private Markup add(String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
        return this;
    }

    /** What stands for the same text between tags and in quotes; what XML cannot say becomes a question mark. */
    static String escaped(String content) {
        StringBuilder escaped = new StringBuilder(content.length());
        content.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                default -> escaped.appendCodePoint(isXml(c) ? c : '?');
            }
        });
        return escaped.toString();
    }

    private static boolean isXml(int c) {
        return c == '\t'
                || c == '\n'
                || c == '\r'
                || (c >= ' ' && c < 0xD800)
                || (c > 0xDFFF && c != 0xFFFE && c != 0xFFFF);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
