package dev.hapax.gateway.proxy;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The time as HTTP writes it, which changes only once a second. Thread-safe. */
final class HttpDate {
    private static final DateTimeFormatter FORMAT =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);

    private volatile Stamp last = Stamp.of(0);

    private record Stamp(long second, String text) {
        static Stamp of(long second) {
            return new Stamp(second, FORMAT.format(Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC)));
        }
    }

    String now() {
        long second = Instant.now().getEpochSecond();
        Stamp stamp = last;
        if (stamp.second() != second) {
            stamp = Stamp.of(second);
            last = stamp;
        }
        return stamp.text();
    }
}
