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
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.add(new Field(namesAndValues[i], namesAndValues[i + 1]));
        }
        return new Headers(fields);
    }

    /** The values of every field line of that name. */
    public List<String> all(String name) {
        return fields.stream()
                .filter(field -> field.name().equalsIgnoreCase(name))
                .map(Field::value)
                .toList();
    }

    public Optional<String> first(String name) {
        return fields.stream()
                .filter(field -> field.name().equalsIgnoreCase(name))
                .map(Field::value)
                .findFirst();
    }

    public boolean contains(String name) {
        return first(name).isPresent();
    }

    /** With this value in place of all that the name had. */
    public Headers with(String name, String value) {
        List<Field> changed = new ArrayList<>(without(name::equalsIgnoreCase).fields());
        changed.add(new Field(name, value));
        return new Headers(changed);
    }

    public Headers without(Predicate<String> name) {
        return new Headers(
                fields.stream().filter(field -> !name.test(field.name())).toList());
    }
}
