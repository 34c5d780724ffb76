package dev.hapax.gateway.config;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations such as {@code 1h30m} and sizes such as {@code 1MiB}: numbers with their unit. */
final class Amounts {
    private static final Pattern PART = Pattern.compile("(\\d{1,15})\\s*([A-Za-z]*)");
    private static final Duration LONGEST = Duration.ofDays(36_500);

    /** From the longest to the shortest, which is also the order in which parts may follow each other. */
    private static final Map<String, Duration> UNITS = ordered(
            "d", Duration.ofDays(1),
            "h", Duration.ofHours(1),
            "m", Duration.ofMinutes(1),
            "s", Duration.ofSeconds(1),
            "ms", Duration.ofMillis(1));

    private static final Map<String, Long> SIZES = Map.of(
            "",
            1L,
            "b",
            1L,
            "kb",
            1_000L,
            "mb",
            1_000_000L,
            "gb",
            1_000_000_000L,
            "kib",
            1L << 10,
            "mib",
            1L << 20,
            "gib",
            1L << 30);

    private Amounts() {}

    static Duration duration(String text, Duration least) {
        Matcher part = PART.matcher(text);
        Duration sum = Duration.ZERO;
        Duration last = LONGEST;
        int end = 0;
        while (end < text.length() && part.find(end) && part.start() == end) {
            Duration unit = unit(part.group(1), part.group(2));
            if (unit.compareTo(last) >= 0) {
                throw new IllegalArgumentException("write the longer units first, as in 1h30m");
            }
            sum = sum.plus(times(unit, Long.parseLong(part.group(1))));
            last = unit;
            end = part.end();
        }
        if (end == 0 || end < text.length()) {
            throw new IllegalArgumentException("a number and its unit are needed, such as 500ms, 30s, 15m, 24h or 7d");
        }
        return requireBetween(sum, least);
    }

    static String print(Duration duration) {
        StringBuilder text = new StringBuilder();
        Duration rest = duration;
        for (Map.Entry<String, Duration> unit : UNITS.entrySet()) {
            long count = rest.dividedBy(unit.getValue());
            if (count > 0) {
                text.append(count).append(unit.getKey());
                rest = rest.minus(unit.getValue().multipliedBy(count));
            }
        }
        return text.isEmpty() ? "0s" : text.toString();
    }

    /** A number of bytes that an array can have. */
    static int bytes(String text) {
        Matcher part = PART.matcher(text);
        @Nullable Long unit = part.matches() ? SIZES.get(part.group(2).toLowerCase(Locale.ROOT)) : null;
        if (unit == null) {
            throw new IllegalArgumentException("a number of bytes is needed, such as 64KiB, 1MiB or 2MB");
        }
        long count = Long.parseLong(part.group(1));
        if (count > Integer.MAX_VALUE / unit) {
            throw new IllegalArgumentException("less than 2GiB is needed");
        }
        return (int) (count * unit);
    }

    private static Duration unit(String number, String unit) {
        @Nullable Duration length = UNITS.get(unit);
        if (length != null) {
            return length;
        }
        throw new IllegalArgumentException(
                unit.isEmpty()
                        ? "add the unit: %1$sms, %1$ss, %1$sm, %1$sh or %1$sd".formatted(number)
                        : "the units are ms, s, m, h and d");
    }

    private static Duration times(Duration unit, long count) {
        if (count > LONGEST.dividedBy(unit)) {
            throw new IllegalArgumentException("at most a hundred years are possible");
        }
        return unit.multipliedBy(count);
    }

    private static Duration requireBetween(Duration duration, Duration least) {
        if (duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("at most a hundred years are possible");
        }
        if (duration.compareTo(least) < 0) {
            throw new IllegalArgumentException("at least " + print(least) + " is needed");
        }
        return duration;
    }

    private static Map<String, Duration> ordered(Object... namesAndUnits) {
        Map<String, Duration> units = new LinkedHashMap<>();
        for (int i = 0; i < namesAndUnits.length; i += 2) {
            units.put((String) namesAndUnits[i], (Duration) namesAndUnits[i + 1]);
        }
        return units;
    }
}
