package dev.hapax.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Field lines in the order they came in; names are compared without case. Immutable. */
public record Headers(List<Field> fields) {
    public static final Headers NONE = new Headers(List.of());

    /** One field line. */
    public record Field(String name, String value) {}

    public Headers {
        fields = List.copyOf(fields);
    }

    /** Names and values, in turns. */
    public static Headers of(String... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("the last name has no value");
        }
        List<Field> fields = new ArrayList<>(namesAndValues.length / 2);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.add(new Field(namesAndValues[i], namesAndValues[i + 1]));
        }
        return new Headers(fields);
    }

    /** The values of every field line of that name. */
    public List<String> all(String name) {
        List<String> values = List.of();
        for (Field field : fields) {
            if (field.name().equalsIgnoreCase(name)) {
                values = values.isEmpty() ? new ArrayList<>(1) : values;
                values.add(field.value());
            }
        }
        return values;
    }

    public Optional<String> first(String name) {
        for (Field field : fields) {
            if (field.name().equalsIgnoreCase(name)) {
                return Optional.of(field.value());
            }
        }
        return Optional.empty();
    }

    public boolean contains(String name) {
        return first(name).isPresent();
    }

    /** With this value in place of all that the name had. */
    public Headers with(String name, String value) {
        List<Field> changed = new ArrayList<>(fields.size() + 1);
        for (Field field : fields) {
            if (!field.name().equalsIgnoreCase(name)) {
                changed.add(field);
            }
        }
        changed.add(new Field(name, value));
        return new Headers(changed);
    }

    /** Without those whose name it says yes to. */
    public Headers without(Predicate<String> name) {
        return new Headers(
                fields.stream().filter(field -> !name.test(field.name())).toList());
    }
}
