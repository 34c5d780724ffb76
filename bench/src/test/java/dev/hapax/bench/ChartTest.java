package dev.hapax.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.bench.Chart.Bar;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class ChartTest {
    /** As wide as letters of this size get in the fonts that browsers choose. */
    private static final double LETTER = 0.58;

    private static final String CAPTION = "2 processors, PostgreSQL 18.6 with fsync, median of 30 rounds";

    @Test
    void isWellFormedWhateverTheNamesHold() throws Exception {
        String name = "a < b & \"c\" > 'd' \u0000 \uD800 ]]> <script>";

        Document chart = parsed(Chart.svg(List.of(bar(name, 1.5, 1)), name));

        assertThat(texts(chart)).contains("a < b & \"c\" > 'd' ? ? ]]> <script>");
        assertThat(chart.getElementsByTagName("script").getLength()).isZero();
    }

    @Test
    void nothingLeavesTheViewBox() throws Exception {
        List<Bar> bars = List.of(
                bar("fresh, 1 caller", 0.97, 0.95),
                bar("fresh, 128 callers, beside the fastest of all the others there are, whichever that is", 3.4, 3),
                bar("replay from near cache", 12_345, 100),
                bar("sweep", 0.002, 5),
                new Bar("W".repeat(200), 1, 0.00001, 100_000, OptionalDouble.empty()));

        assertInside(parsed(Chart.svg(bars, (CAPTION + ". ").repeat(9))));
    }

    @Test
    void nothingLeavesTheViewBoxWhateverTheNumbers() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 200; i++) {
            List<Bar> bars = new ArrayList<>();
            for (int j = random.nextInt(20); j >= 0; j--) {
                double ratio = Math.pow(10, random.nextGaussian() * 3);
                double target = Math.pow(10, random.nextGaussian() * 2);
                double low = ratio * random.nextDouble(0.01, 1);
                bars.add(new Bar(
                        "figure " + j, ratio, low, ratio / random.nextDouble(0.01, 1), OptionalDouble.of(target)));
            }
            try {
                assertInside(parsed(Chart.svg(bars, CAPTION)));
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    @Test
    void ratiosReadAsPeopleWriteThem() throws Exception {
        List<Bar> bars = List.of(bar("latency", 0.057, 1), bar("cache", 133.2, 100), bar("sweep", 23.87, 5));

        assertThat(texts(parsed(Chart.svg(bars, CAPTION)))).contains("0.06×", "133×", "23.9×");
    }

    @Test
    void nothingMeasuredIsAnEmptyChart() throws Exception {
        assertInside(parsed(Chart.svg(List.of(), "")));
    }

    @Test
    void metAndMissedDifferInMoreThanColour() throws Exception {
        String met = Chart.svg(List.of(bar("x", 3, 3)), "");
        String missed = Chart.svg(List.of(bar("x", 2.99, 3)), "");

        assertThat(signs(parsed(met), "yes")).isEqualTo(signs(parsed(missed), "yes") + 1);
        assertThat(signs(parsed(missed), "no")).isEqualTo(signs(parsed(met), "no") + 1);
        assertThat(missed)
                .contains("fill: url(#hatched)")
                .contains("aria-label=\"1 ratios: 0 reach their bar, 1 do not\"");
    }

    @Test
    void barsGrowFromOneInBothDirectionsAlike() throws Exception {
        List<Element> bars =
                shapes(parsed(Chart.svg(List.of(bar("twice", 2, 2), bar("half", 0.5, 0.5)), "")), "rect", "met");

        double one = number(bars.get(0), "x");
        assertThat(number(bars.get(1), "x") + number(bars.get(1), "width")).isCloseTo(one, within());
        assertThat(number(bars.get(1), "width")).isCloseTo(number(bars.get(0), "width"), within());
    }

    @Test
    void numbersWithoutAPlaceOnTheScaleAreRefused() {
        for (double ratio : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> bar("x", ratio, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> bar("x", 1, ratio)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static org.assertj.core.data.Offset<Double> within() {
        return org.assertj.core.data.Offset.offset(0.2);
    }

    private static Bar bar(String name, double ratio, double target) {
        return new Bar(name, ratio, ratio * 0.9, ratio * 1.1, OptionalDouble.of(target));
    }

    private static Document parsed(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    }

    private static void assertInside(Document chart) {
        String[] box = chart.getDocumentElement().getAttribute("viewBox").split(" ", -1);
        double width = Double.parseDouble(box[2]);
        double height = Double.parseDouble(box[3]);
        for (Element text : elements(chart, "text")) {
            double size = switch (text.getAttribute("class")) {
                case "title" -> 18;
                case "soft", "tick" -> 12;
                default -> 13;
            };
            double length = text.getTextContent().length() * size * LETTER;
            double before = switch (text.getAttribute("class")) {
                case "tick" -> length / 2;
                case "name" -> length;
                default -> 0;
            };
            String what = text.getTextContent();
            assertThat(number(text, "x") - before).as(what).isBetween(0.0, width);
            assertThat(number(text, "x") - before + length).as(what).isBetween(0.0, width);
            assertThat(number(text, "y")).as(what).isBetween(size, height - 4);
        }
        for (Element rectangle : elements(chart, "rect")) {
            assertThat(number(rectangle, "x")).isBetween(0.0, width);
            assertThat(number(rectangle, "y")).isBetween(0.0, height);
            assertThat(number(rectangle, "x") + number(rectangle, "width")).isLessThanOrEqualTo(width + 0.5);
            assertThat(number(rectangle, "y") + number(rectangle, "height")).isLessThanOrEqualTo(height + 0.5);
        }
        for (Element line : elements(chart, "line")) {
            assertThat(List.of(number(line, "x1"), number(line, "x2"))).allMatch(x -> x >= 0 && x <= width);
            assertThat(List.of(number(line, "y1"), number(line, "y2"))).allMatch(y -> y >= 0 && y <= height);
        }
    }

    private static long signs(Document chart, String style) {
        return shapes(chart, "path", style).size();
    }

    private static List<Element> shapes(Document chart, String tag, String style) {
        return elements(chart, tag).stream()
                .filter(shape -> shape.getAttribute("class").equals(style))
                .toList();
    }

    private static List<String> texts(Document chart) {
        return elements(chart, "text").stream().map(Element::getTextContent).toList();
    }

    private static List<Element> elements(Document chart, String tag) {
        List<Element> elements = new ArrayList<>();
        NodeList found = chart.getElementsByTagName(tag);
        for (int i = 0; i < found.getLength(); i++) {
            elements.add((Element) found.item(i));
        }
        return elements;
    }

    private static double number(Element element, String attribute) {
        return Double.parseDouble(element.getAttribute(attribute));
    }
}
