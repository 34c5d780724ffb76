package dev.hapax.gateway.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints settings as YAML that reads back as the same settings, with a comment where a value does not come from the
 * defaults. Secrets are printed as the variable they came from, or not at all.
 */
final class Printer {
    private static final Pattern PLAIN =
            Pattern.compile("[A-Za-z0-9./][A-Za-z0-9_./:?&=%+@*{}-]*( [A-Za-z0-9_./{*][A-Za-z0-9_./{}*-]*)*");
    private static final Pattern PLAIN_IN_LIST = Pattern.compile("[A-Za-z0-9./][A-Za-z0-9_./%+@-]*");
    private static final Pattern NOT_TEXT = Pattern.compile("(?i)null|.*:");
    private static final int WIDEST = 48;

    private record Line(String text, String comment) {}

    private final List<Line> lines = new ArrayList<>();

    private Printer() {}

    static String print(Tree.Members top) {
        Printer printer = new Printer();
        printer.members(Schema.TOP, top, "");
        return printer.text();
    }

    private void members(Section<?> section, Tree.Members group, String indent) {
        for (Setting<?> setting : section.settings()) {
            Tree.@Nullable Member member = group.members().get(setting.name());
            Optional<Tree> tree = member == null ? setting.fallback() : Optional.of(member.value());
            if (tree.isPresent() && !setting.equals(Schema.DEFAULTS)) {
                value(
                        indent + setting.name() + ":",
                        setting.shape(),
                        setting.shape().normal(tree.get()),
                        indent + "  ");
            }
        }
    }

    private void value(String start, Shape<?> shape, Tree tree, String indent) {
        if (tree instanceof Tree.Members group) {
            lines.add(new Line(start, ""));
            members(shape instanceof Either<?> either ? either.section() : (Section<?>) shape, group, indent);
        } else if (tree instanceof Tree.Items list) {
            items(start, ((ListOf<?>) shape).element(), list, indent);
        } else if (tree instanceof Tree.Text text) {
            Scalar<?> scalar = scalar(shape);
            lines.add(new Line(start + " " + quoted(scalar.printed(text), PLAIN), comment(text.origin())));
        }
    }

    private static Scalar<?> scalar(Shape<?> shape) {
        if (shape instanceof Either<?> either) {
            return either.text();
        }
        return shape instanceof ListOf<?> list ? scalar(list.element()) : (Scalar<?>) shape;
    }

    private void items(String start, Shape<?> element, Tree.Items list, String indent) {
        if (element instanceof Scalar<?> scalar) {
            String words = list.items().stream()
                    .map(item -> quoted(scalar.printed((Tree.Text) item), PLAIN_IN_LIST))
                    .collect(Collectors.joining(", ", "[", "]"));
            lines.add(new Line(start + " " + words, comment(list.origin())));
            return;
        }
        lines.add(new Line(start + (list.items().isEmpty() ? " []" : ""), ""));
        for (Tree item : list.items()) {
            int first = lines.size();
            members((Section<?>) element, (Tree.Members) item, indent + "  ");
            Line line = lines.get(first);
            lines.set(first, new Line(indent + "- " + line.text().strip(), line.comment()));
        }
    }

    private static String comment(Origin origin) {
        if (origin instanceof Origin.InFile place) {
            return place.file() + ":" + place.line();
        }
        return origin instanceof Origin.BuiltIn ? "" : origin.toString();
    }

    private String text() {
        int width = lines.stream()
                .filter(line -> !line.comment().isEmpty())
                .mapToInt(line -> line.text().length())
                .max()
                .orElse(0);
        String format = "%-" + Math.max(1, Math.min(width, WIDEST)) + "s  # %s";
        return lines.stream()
                .map(line -> line.comment().isEmpty() ? line.text() : format.formatted(line.text(), line.comment()))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    static String quoted(String text, Pattern plain) {
        if (plain.matcher(text).matches() && !NOT_TEXT.matcher(text).matches()) {
            return text;
        }
        if (text.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            return "'" + text.replace("'", "''") + "'";
        }
        return text.codePoints().mapToObj(Printer::escaped).collect(Collectors.joining("", "\"", "\""));
    }

    private static String escaped(int c) {
        if (c == '"' || c == '\\') {
            return "\\" + (char) c;
        }
        return c >= ' ' && c <= '~' ? Character.toString(c) : "\\U%08X".formatted(c);
    }
}
