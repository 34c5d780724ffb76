package dev.hapax.architecture;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Prints the slowest test classes of all modules and what was skipped, at the end of {@code mvn verify}.
 *
 * <p>A test may be skipped where something optional is not installed. With {@code -Dhapax.skips=fail} that fails the
 * build, except for tests of another version of Java: CI runs the build on several.
 */
public final class TestSummary {
    private static final int SHOWN = 10;
    private static final String OTHER_JAVA = "Disabled on JRE version";

    private final List<TestClass> classes = new ArrayList<>();
    private final List<Skip> skips = new ArrayList<>();
    private int tests;

    private record TestClass(String module, String name, double seconds) {}

    private record Skip(String test, String reason) {
        boolean isForOtherJava() {
            return reason.startsWith(OTHER_JAVA);
        }
    }

    private TestSummary() {}

    /** @param arguments the root directory, and {@code fail} or {@code allow} */
    public static void main(String[] arguments) throws IOException, XMLStreamException {
        TestSummary summary = new TestSummary();
        for (String kind : List.of("surefire", "failsafe")) {
            summary.readAll(Path.of(arguments[0]), kind + "-reports");
        }
        summary.print();
        if (arguments[1].equals("fail")) {
            summary.requireThatAllRan();
        }
    }

    private void requireThatAllRan() {
        if (tests == 0 || !skips.stream().allMatch(Skip::isForOtherJava)) {
            throw new IllegalStateException("tests were skipped, and hapax.skips is \"fail\"; see the list above");
        }
    }

    private void readAll(Path root, String kind) throws IOException, XMLStreamException {
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(root, Files::isDirectory)) {
            for (Path module : modules) {
                Path reports = module.resolve("target").resolve(kind);
                if (Files.isDirectory(reports)) {
                    readReports(module.getFileName().toString(), reports);
                }
            }
        }
    }

    private void readReports(String module, Path directory) throws IOException, XMLStreamException {
        try (DirectoryStream<Path> reports = Files.newDirectoryStream(directory, "TEST-*.xml")) {
            for (Path report : reports) {
                read(module, report);
            }
        }
    }

    private void read(String module, Path report) throws IOException, XMLStreamException {
        try (var content = Files.newInputStream(report)) {
            XMLStreamReader xml = XMLInputFactory.newDefaultFactory().createXMLStreamReader(content);
            String test = "";
            while (xml.hasNext()) {
                if (xml.next() != XMLStreamConstants.START_ELEMENT) {
                    continue;
                }
                switch (xml.getLocalName()) {
                    case "testsuite" -> addClass(module, xml);
                    case "testcase" -> {
                        tests++;
                        test = "%s %s.%s"
                                .formatted(module, simple(attribute(xml, "classname")), attribute(xml, "name"));
                    }
                    case "skipped" -> skips.add(new Skip(test, attribute(xml, "message")));
                    default -> {
                        // output, stack traces
                    }
                }
            }
        }
    }

    /** A class that is skipped as a whole has no test, and none of its tests is reported as skipped. */
    private void addClass(String module, XMLStreamReader xml) {
        String name = simple(attribute(xml, "name"));
        classes.add(new TestClass(module, name, seconds(attribute(xml, "time"))));
        if (attribute(xml, "tests").equals("0")) {
            skips.add(new Skip(module + " " + name, "no test ran"));
        }
    }

    private static String attribute(XMLStreamReader xml, String name) {
        String value = xml.getAttributeValue(null, name);
        return value == null ? "" : value;
    }

    private static String simple(String className) {
        return className.substring(className.lastIndexOf('.') + 1);
    }

    private static double seconds(String text) {
        return Double.parseDouble(text.replace(",", ""));
    }

    private void print() {
        System.out.println("Slowest test classes:");
        classes.stream()
                .sorted(Comparator.comparingDouble(TestClass::seconds).reversed())
                .limit(SHOWN)
                .forEach(it ->
                        System.out.printf(Locale.ROOT, "%7.1f s  %-18s %s%n", it.seconds(), it.module(), it.name()));
        System.out.printf(Locale.ROOT, "%,d tests in %,d classes, %d skipped%n", tests, classes.size(), skips.size());
        skips.forEach(it -> System.out.printf("  %s: %s%n", it.test(), it.reason()));
    }
}
