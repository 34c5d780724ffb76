package dev.hapax.gateway.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The way to a setting, with {@code *} for a place in a list: {@code routes.*.retention}.
 *
 * @param setting what is there; empty for an element of a list
 */
record SettingPath(List<String> segments, Optional<Setting<?>> setting) {
    static final String PREFIX = "HAPAX_";
    private static final String ANY = "*";
    private static final Pattern NUMBER = Pattern.compile("(?<=_)\\d{1,4}(?=_|$)");

    SettingPath {
        segments = List.copyOf(segments);
    }

    /** Every setting there is, in the order of the reference. */
    static List<SettingPath> all() {
        List<SettingPath> all = new ArrayList<>();
        collect(List.of(), Schema.TOP, all);
        return all;
    }

    private static void collect(List<String> before, Shape<?> shape, List<SettingPath> all) {
        if (shape instanceof Section<?> section) {
            for (Setting<?> setting : section.settings()) {
                SettingPath path = new SettingPath(and(before, setting.name()), Optional.of(setting));
                all.add(path);
                collect(path.segments(), setting.shape(), all);
            }
        } else if (shape instanceof Either<?> either) {
            collect(before, either.section(), all);
        } else if (shape instanceof ListOf<?> list && !(list.element() instanceof Scalar)) {
            all.add(new SettingPath(and(before, ANY), Optional.empty()));
            collect(and(before, ANY), list.element(), all);
        }
    }

    /** The setting that an environment variable means, with its places in lists filled in. */
    static Optional<List<String>> ofVariable(String variable) {
        List<String> numbers =
                NUMBER.matcher(variable).results().map(result -> result.group()).toList();
        String pattern = NUMBER.matcher(variable).replaceAll(ANY);
        return all().stream()
                .filter(path -> path.variable().equals(pattern))
                .findFirst()
                .map(path -> path.filledWith(numbers));
    }

    /** The setting at a way whose places in lists are filled in. */
    static Optional<Setting<?>> at(List<String> filled) {
        List<String> segments = filled.stream()
                .map(segment -> segment.matches("\\d+") ? ANY : segment)
                .toList();
        return all().stream()
                .filter(path -> path.segments().equals(segments))
                .findFirst()
                .flatMap(SettingPath::setting);
    }

    /** {@code HAPAX_ROUTES_*_RETENTION}. */
    String variable() {
        return PREFIX + String.join("_", segments).replace('-', '_').toUpperCase(Locale.ROOT);
    }

    String text() {
        return String.join(".", segments);
    }

    String last() {
        return segments.get(segments.size() - 1);
    }

    /** What the setting belongs to, for people. */
    String group() {
        String group =
                String.join(".", segments.subList(0, segments.size() - 1)).replace(".*", "");
        return group.isEmpty() ? "the top level" : group;
    }

    private List<String> filledWith(List<String> numbers) {
        List<String> filled = new ArrayList<>(segments);
        int[] places = IntStream.range(0, filled.size())
                .filter(i -> filled.get(i).equals(ANY))
                .toArray();
        for (int i = 0; i < places.length; i++) {
            filled.set(places[i], numbers.get(i));
        }
        return filled;
    }

    private static List<String> and(List<String> before, String name) {
        List<String> longer = new ArrayList<>(before);
        longer.add(name);
        return longer;
    }
}
