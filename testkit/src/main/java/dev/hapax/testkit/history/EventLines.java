package dev.hapax.testkit.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Events as lines of tab-separated text, and back. */
final class EventLines {

    private static final Map<Class<?>, Form<?>> BY_TYPE = new HashMap<>();
    private static final Map<String, Form<?>> BY_WORD = new HashMap<>();

    static {
        form(
                Event.Claimed.class,
                e -> fields(e.operation(), e.token(), e.owner(), e.attempt(), e.call(), e.leaseNanos()),
                f -> new Event.Claimed(f.text(), f.text(), f.text(), f.count(), f.window(), f.nanos()));
        form(
                Event.Renewed.class,
                e -> fields(e.operation(), e.token(), e.call(), e.leaseNanos()),
                f -> new Event.Renewed(f.text(), f.text(), f.window(), f.nanos()));
        form(
                Event.Granted.class,
                e -> fields(e.operation(), e.token(), e.call(), e.leaseNanos()),
                f -> new Event.Granted(f.text(), f.text(), f.window(), f.nanos()));
        form(
                Event.Holding.class,
                e -> fields(e.operation(), e.token(), e.at()),
                f -> new Event.Holding(f.text(), f.text(), f.nanos()));
        form(
                Event.Uncounted.class,
                e -> fields(e.operation(), e.token(), e.at()),
                f -> new Event.Uncounted(f.text(), f.text(), f.nanos()));
        form(
                Event.Ran.class,
                e -> fields(e.operation(), e.token(), e.attempt(), e.at()),
                f -> new Event.Ran(f.text(), f.text(), f.count(), f.nanos()));
        form(
                Event.Completing.class,
                e -> fields(e.operation(), e.token(), e.result(), e.at()),
                f -> new Event.Completing(f.text(), f.text(), f.text(), f.nanos()));
        form(
                Event.Completed.class,
                e -> fields(e.operation(), e.token(), e.result(), e.call()),
                f -> new Event.Completed(f.text(), f.text(), f.text(), f.window()));
        form(
                Event.Releasing.class,
                e -> fields(e.operation(), e.token(), e.at()),
                f -> new Event.Releasing(f.text(), f.text(), f.nanos()));
        form(
                Event.Released.class,
                e -> fields(e.operation(), e.token(), e.call()),
                f -> new Event.Released(f.text(), f.text(), f.window()));
        form(
                Event.Refused.class,
                e -> fields(e.operation(), e.token(), e.step(), e.call()),
                f -> new Event.Refused(f.text(), f.text(), f.text(), f.window()));
        form(
                Event.Answered.class,
                e -> fields(e.operation(), e.result(), e.at()),
                f -> new Event.Answered(f.text(), f.text(), f.nanos()));
        form(Event.GivenUp.class, e -> fields(e.operation(), e.at()), f -> new Event.GivenUp(f.text(), f.nanos()));
        form(Event.Abandoned.class, e -> fields(e.owner(), e.at()), f -> new Event.Abandoned(f.text(), f.nanos()));
    }

    private EventLines() {}

    static String write(Event event) {
        Form<?> form = BY_TYPE.get(event.getClass());
        if (form == null) {
            throw new IllegalArgumentException("no line for " + event);
        }
        return form.write(event);
    }

    static Event read(String line) {
        String[] fields = line.split("\t", -1);
        Form<?> form = BY_WORD.get(fields[0]);
        if (form == null) {
            throw new IllegalArgumentException("unknown event: " + fields[0]);
        }
        FieldReader reader = new FieldReader(fields);
        Event event = form.reader.apply(reader);
        reader.expectEnd();
        return event;
    }

    private static <E extends Event> void form(
            Class<E> type, Function<E, List<Object>> writer, Function<FieldReader, E> reader) {
        Form<E> form = new Form<>(type, writer, reader);
        BY_TYPE.put(type, form);
        BY_WORD.put(form.word(), form);
    }

    private static List<Object> fields(Object... values) {
        return List.of(values);
    }

    private record Form<E extends Event>(
            Class<E> type, Function<E, List<Object>> writer, Function<FieldReader, E> reader) {

        String word() {
            return type.getSimpleName();
        }

        String write(Event event) {
            List<String> parts = new ArrayList<>();
            parts.add(word());
            for (Object field : writer.apply(type.cast(event))) {
                if (field instanceof Window window) {
                    parts.add(Long.toString(window.calledAt()));
                    parts.add(Long.toString(window.answeredAt()));
                } else {
                    parts.add(plain(field.toString()));
                }
            }
            return String.join("\t", parts);
        }

        private static String plain(String field) {
            if (field.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException("a name or digest has a control character: " + field);
            }
            return field;
        }
    }

    private static final class FieldReader {

        private final String[] fields;
        private int next = 1;

        FieldReader(String[] fields) {
            this.fields = fields;
        }

        String text() {
            if (next == fields.length) {
                throw new IllegalArgumentException("too few fields for " + fields[0]);
            }
            return fields[next++];
        }

        int count() {
            return Integer.parseInt(text());
        }

        long nanos() {
            return Long.parseLong(text());
        }

        Window window() {
            return new Window(nanos(), nanos());
        }

        void expectEnd() {
            if (next != fields.length) {
                throw new IllegalArgumentException("too many fields for " + fields[0]);
            }
        }
    }
}
