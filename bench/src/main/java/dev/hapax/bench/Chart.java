package dev.hapax.bench;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * A picture of ratios: a bar for each, to the right of 1 if it is faster and to the left if it is slower. Whether it is
 * fast enough shows in its colour, in its pattern and in a sign, so that nobody needs to tell colours apart; light and
 * dark screens have colours of their own.
 */
public final class Chart {
    private static final double MARGIN = 28;
    private static final double PLOT = 400;
    private static final double GAP = 18;
    private static final double VALUES = 150;
    private static final double ROW = 30;
    private static final double THICK = 12;
    private static final double SIGN = 11;
    private static final double LINE = 18;

    /** Wider than letters are, so that what is reckoned with is enough in every font. */
    private static final double LETTER = 7.2;

    private static final int LONGEST_NAME = 64;
    private static final int SHORTEST_NAME = 18;

    private static final String CHECK = "M1 6 L4.5 9.5 L10 1.5";
    private static final String CROSS = "M1.5 1.5 L9.5 9.5 M9.5 1.5 L1.5 9.5";
    private static final String POINTER = "M-4 -5 L4 -5 L0 1 Z";

    private static final String STYLE = """
            <style>
            text { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;
              font-size: 13px; fill: #1f2328; }
            .title { font-size: 18px; font-weight: 600; }
            .soft, .tick { font-size: 12px; fill: #59636e; }
            .tick { text-anchor: middle; }
            .name { text-anchor: end; }
            .value { font-weight: 600; }
            .ground { fill: #ffffff; }
            .grid { stroke: #e4e8ec; }
            .one { stroke: #8c959f; stroke-width: 1.5; }
            .spread { stroke: #1f2328; stroke-width: 1.5; stroke-opacity: .55; }
            .pointer { fill: #1f2328; }
            .target { stroke: #1f2328; stroke-width: 2; }
            .met { fill: #1f6feb; }
            .missed { fill: url(#hatched); stroke: #d4530d; stroke-width: 1.5; }
            .free { fill: #8793a0; }
            .hatch { stroke: #d4530d; stroke-width: 3; }
            .yes, .no { fill: none; stroke: #1f6feb; stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round; }
            .no { stroke: #d4530d; }
            @media (prefers-color-scheme: dark) {
              text { fill: #e6edf3; }
              .soft, .tick { fill: #9198a1; }
              .ground { fill: #0d1117; }
              .grid { stroke: #262c36; }
              .one { stroke: #6e7681; }
              .spread, .target { stroke: #f0f6fc; }
              .pointer { fill: #f0f6fc; }
              .met { fill: #4493f8; }
              .missed, .hatch, .no { stroke: #ff9147; }
              .yes { stroke: #4493f8; }
              .free { fill: #7d8590; }
            }
            </style>
            <defs>
            <pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line class="hatch" x1="0" y1="0" x2="0" y2="6"/>
            </pattern>
            </defs>
            """;

    /**
     * One figure.
     *
     * @param low the lowest ratio of all rounds
     * @param high the highest
     * @param bar what it has to reach, if anything
     */
    public record Bar(String name, double ratio, double low, double high, OptionalDouble bar) {
        /** @throws IllegalArgumentException unless all numbers have a place on a logarithmic scale, in this order */
        public Bar {
            boolean drawable = low > 0 && low <= ratio && ratio <= high && high < Double.POSITIVE_INFINITY;
            if (!drawable || (bar.isPresent() && !(bar.getAsDouble() > 0 && Double.isFinite(bar.getAsDouble())))) {
                throw new IllegalArgumentException(
                        "\"%s\" cannot be drawn: %s, from %s to %s, %s".formatted(name, ratio, low, high, bar));
            }
        }

        String style() {
            return bar.isEmpty() ? "free" : ratio >= bar.getAsDouble() ? "met" : "missed";
        }
    }

    private final Markup markup = new Markup();
    private final List<Bar> bars;
    private final List<String> caption;
    private final double left;
    private final double width;
    private final double top;
    private final ChartScale scale;

    private Chart(List<Bar> bars, String caption) {
        this.bars = bars;
        int letters =
                bars.stream().mapToInt(bar -> shortened(bar.name()).length()).reduce(SHORTEST_NAME, Math::max);
        this.left = MARGIN + letters * LETTER + GAP;
        this.width = left + PLOT + GAP + VALUES + MARGIN;
        this.caption = wrapped(caption, (int) ((width - 2 * MARGIN) / LETTER));
        this.top = MARGIN + 2 * LINE + this.caption.size() * LINE + LINE;
        this.scale = ChartScale.over(
                bars.stream()
                        .flatMap(bar ->
                                Stream.of(bar.low(), bar.high(), bar.bar().orElse(1)))
                        .toList(),
                left,
                left + PLOT);
    }

    /**
     * The whole picture, as a document of its own.
     *
     * @param caption what was measured and where, in a sentence or two
     */
    public static String svg(List<Bar> bars, String caption) {
        return new Chart(bars, caption).draw();
    }

    private String draw() {
        double bottom = top + Math.max(1, bars.size()) * ROW;
        double height = bottom + GAP + LINE + MARGIN;
        markup.raw(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\""
                        + " role=\"img\" aria-label=\"%s\">%n",
                width,
                height,
                width,
                height,
                Markup.escaped(summary())));
        markup.raw(STYLE).rectangle("ground", 0, 0, width, height);
        heading();
        axis(bottom);
        for (int i = 0; i < bars.size(); i++) {
            row(bars.get(i), top + (i + 0.5) * ROW);
        }
        legend(bottom + GAP + LINE);
        return markup.raw("</svg>\n").toString();
    }

    private String summary() {
        long met = bars.stream().filter(bar -> bar.style().equals("met")).count();
        long missed = bars.stream().filter(bar -> bar.style().equals("missed")).count();
        return "%d ratios: %d reach their bar, %d do not".formatted(bars.size(), met, missed);
    }

    private void heading() {
        markup.text("title", MARGIN, MARGIN + LINE, "Hapax, as a multiple of what it is compared with");
        for (int i = 0; i < caption.size(); i++) {
            markup.text("soft", MARGIN, MARGIN + LINE + (i + 1.3) * LINE, caption.get(i));
        }
    }

    private void axis(double bottom) {
        for (double tick : scale.ticks()) {
            double x = scale.at(tick);
            markup.stroke(tick == 1 ? "one" : "grid", x, top, x, bottom);
            markup.text("tick", x, top - 8, round(tick) + "×");
        }
    }

    private void row(Bar bar, double middle) {
        double one = scale.at(1);
        double end = scale.at(bar.ratio());
        markup.text("name", left - GAP, middle + 4.5, shortened(bar.name()));
        markup.rectangle(
                bar.style(), Math.min(one, end), middle - THICK / 2, Math.max(1.5, Math.abs(end - one)), THICK);
        markup.stroke("spread", scale.at(bar.low()), middle, scale.at(bar.high()), middle);
        double values = left + PLOT + GAP;
        bar.bar().ifPresent(target -> {
            double x = scale.at(target);
            markup.stroke("target", x, middle - THICK / 2 - 3, x, middle + THICK / 2 + 3);
            markup.path("pointer", x, middle - THICK / 2 - 3, POINTER);
            sign(bar.style(), values, middle - SIGN / 2);
        });
        markup.text("value", values + SIGN + 8, middle + 4.5, number(bar.ratio()) + "×");
        bar.bar().ifPresent(target -> markup.text("soft", values + 82, middle + 4.5, "bar " + round(target) + "×"));
    }

    private void sign(String style, double x, double y) {
        boolean met = style.equals("met");
        markup.path(met ? "yes" : "no", x, y, met ? CHECK : CROSS);
    }

    private void legend(double y) {
        double x = MARGIN;
        for (String style : List.of("met", "missed")) {
            markup.rectangle(style, x, y - 10, 22, THICK - 1);
            sign(style, x + 29, y - 10);
            x = text(x + 29 + SIGN + 6, y, style.equals("met") ? "reaches its bar" : "does not");
        }
        markup.rectangle("free", x, y - 10, 22, THICK - 1);
        x = text(x + 29, y, "has none");
        markup.stroke("target", x + 6, y - 8, x + 6, y + 3).path("pointer", x + 6, y - 8, POINTER);
        x = text(x + 17, y, "the bar");
        markup.stroke("spread", x, y - 4, x + 22, y - 4);
        text(x + 29, y, "all rounds");
    }

    /** @return where the next thing may begin */
    private double text(double x, double y, String content) {
        markup.text("soft", x, y, content);
        return x + content.length() * LETTER + 14;
    }

    private static String number(double ratio) {
        if (ratio >= 100) {
            return String.format(Locale.ROOT, ratio < 100_000 ? "%,.0f" : "%.1e", ratio);
        }
        return String.format(Locale.ROOT, ratio >= 10 ? "%.1f" : ratio >= 0.01 ? "%.2f" : "%.1e", ratio);
    }

    /** Without zeros that say nothing, for numbers that somebody chose. */
    private static String round(double number) {
        String text = BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
        return text.length() <= 6 ? text : number(number);
    }

    private static String shortened(String name) {
        return name.length() <= LONGEST_NAME
                ? name
                : name.substring(0, LONGEST_NAME - 1).strip() + "…";
    }

    private static List<String> wrapped(String text, int letters) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.strip().split("\\s+", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > letters) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        if (!line.isEmpty()) {
            lines.add(line.toString());
        }
        return lines;
    }
}
