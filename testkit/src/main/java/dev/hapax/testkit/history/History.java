package dev.hapax.testkit.history;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** What all processes of one run saw, in the order in which it began. Immutable. */
public final class History {

    private final List<Event> events;

    private History(List<Event> events) {
        this.events = events;
    }

    public static History of(Event... events) {
        return of(List.of(events));
    }

    public static History of(Collection<? extends Event> events) {
        return new History(events.stream()
                .<Event>map(event -> event)
                .sorted(Comparator.comparingLong(Event::startedAt))
                .toList());
    }

    /**
     * Merges the files of many recorders. What follows a file's last line break is the torn line of a killed process
     * and is left out.
     *
     * @throws IOException if a file cannot be read
     * @throws IllegalArgumentException if a whole line is no event; names the file and the line
     */
    public static History read(Path... files) throws IOException {
        List<Event> events = new ArrayList<>();
        for (Path file : files) {
            readInto(events, file);
        }
        return of(events);
    }

    public List<Event> events() {
        return events;
    }

    private static void readInto(List<Event> events, Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        String whole = new String(bytes, 0, endOfLastLine(bytes), StandardCharsets.UTF_8);
        int number = 0;
        for (String line : (Iterable<String>) whole.lines()::iterator) {
            number++;
            try {
                events.add(EventLines.read(line));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(file + ", line " + number + ": " + e.getMessage(), e);
            }
        }
    }

    private static int endOfLastLine(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] != '\n') {
            end--;
        }
        return end;
    }
}
