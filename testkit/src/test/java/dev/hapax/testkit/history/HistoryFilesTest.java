package dev.hapax.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryFilesTest {

    private static final List<Event> ONE_OF_EACH = List.of(
            new Event.Claimed("op é", "t", "p1", 1, new Window(1, 2), 1000),
            new Event.Renewed("op é", "t", new Window(3, 4), 1000),
            new Event.Ran("op é", "t", 1, 5),
            new Event.Completing("op é", "t", "r", 6),
            new Event.Completed("op é", "t", "r", new Window(7, 8)),
            new Event.Releasing("op é", "t", 9),
            new Event.Released("op é", "t", new Window(10, 11)),
            new Event.Refused("op é", "t", "renew", new Window(12, 13)),
            new Event.Answered("op é", "r", 14),
            new Event.GivenUp("op é", 15),
            new Event.Abandoned("p1", 16),
            new Event.Granted("op é", "t", new Window(17, 18), 1000),
            new Event.Holding("op é", "t", 19),
            new Event.Uncounted("op é", "t", 20));

    @TempDir
    Path directory;

    @Test
    void everyEventSurvivesTheRoundTrip() throws IOException {
        Path file = write("one", ONE_OF_EACH);

        assertThat(History.read(file).events()).isEqualTo(ONE_OF_EACH);
    }

    @Test
    void everyKindOfEventIsInTheRoundTrip() {
        assertThat(ONE_OF_EACH)
                .extracting(event -> (Object) event.getClass())
                .containsAll(List.of(Event.class.getDeclaredClasses()).stream()
                        .filter(Class::isRecord)
                        .toList());
    }

    @Test
    void filesAreMergedByTime() throws IOException {
        Path late = write("late", ONE_OF_EACH.subList(5, ONE_OF_EACH.size()));
        Path early = write("early", ONE_OF_EACH.subList(0, 5));

        assertThat(History.read(late, early).events()).isEqualTo(ONE_OF_EACH);
    }

    @Test
    void aTornLastLineIsLeftOutWhereverItIsTorn() throws IOException {
        Path whole = write("whole", ONE_OF_EACH.subList(0, 2));
        byte[] bytes = Files.readAllBytes(whole);
        int firstLine = new String(bytes, StandardCharsets.ISO_8859_1).indexOf('\n') + 1;
        for (int length = firstLine; length < bytes.length; length++) {
            Path torn = Files.write(directory.resolve("torn-" + length), Arrays.copyOf(bytes, length));

            assertThat(History.read(torn).events()).isEqualTo(ONE_OF_EACH.subList(0, 1));
        }
    }

    @Test
    void recordedEventsAreInTheFileBeforeItIsClosed() throws IOException {
        Path file = directory.resolve("open");
        try (HistoryRecorder recorder = HistoryRecorder.create(file)) {
            ONE_OF_EACH.forEach(recorder::record);

            assertThat(History.read(file).events()).isEqualTo(ONE_OF_EACH);
        }
    }

    @Test
    void anInterruptedThreadStillRecords() throws IOException {
        Path file = directory.resolve("interrupted");
        try (HistoryRecorder recorder = HistoryRecorder.create(file)) {
            Thread.currentThread().interrupt();
            recorder.record(ONE_OF_EACH.get(0));
            assertThat(Thread.interrupted()).isTrue();
            recorder.record(ONE_OF_EACH.get(1));
        }

        assertThat(History.read(file).events()).hasSize(2);
    }

    @Test
    void aBrokenLineInTheMiddleIsNamed() throws IOException {
        Path file = write("broken", ONE_OF_EACH.subList(0, 1));
        Files.writeString(file, "Claimed\tonly\nRan\top\tt\t1\t2\n", StandardOpenOption.APPEND);

        assertThatThrownBy(() -> History.read(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("broken, line 2: too few fields for Claimed");
    }

    @Test
    void namesThatWouldBreakALineAreRefused() throws IOException {
        try (HistoryRecorder recorder = HistoryRecorder.create(directory.resolve("names"))) {
            assertThatThrownBy(() -> recorder.record(new Event.GivenUp("a\tb", 1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aRecorderNeverWritesIntoAnOldFile() throws IOException {
        Path file = write("old", ONE_OF_EACH);

        assertThatThrownBy(() -> HistoryRecorder.create(file)).isInstanceOf(FileAlreadyExistsException.class);
    }

    private Path write(String name, List<Event> events) throws IOException {
        Path file = directory.resolve(name);
        try (HistoryRecorder recorder = HistoryRecorder.create(file)) {
            events.forEach(recorder::record);
        }
        return file;
    }
}
