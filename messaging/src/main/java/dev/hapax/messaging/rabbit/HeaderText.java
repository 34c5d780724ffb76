package dev.hapax.messaging.rabbit;

import com.rabbitmq.client.LongString;
import dev.hapax.messaging.internal.StrictUtf8;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * The values of headers as text that is the same on every delivery and in every process. Whatever has no such text is
 * refused: as a key, an object's own {@code toString} could be another one each time, and the message would run again.
 */
final class HeaderText {
    private HeaderText() {}

    static String of(String name, Object value) {
        if (value instanceof String text) {
            return text;
        } else if (value instanceof LongString text) {
            return StrictUtf8.decode(text.getBytes(), describe(name));
        } else if (value instanceof byte[] bytes) {
            return StrictUtf8.decode(bytes, describe(name));
        } else if (value instanceof Number number && isFinite(number)) {
            return new BigDecimal(number.toString()).stripTrailingZeros().toPlainString();
        } else if (value instanceof Boolean) {
            return value.toString();
        }
        throw new IllegalArgumentException("%s is a %s; only text, numbers and booleans can be read as text"
                .formatted(describe(name), type(value)));
    }

    private static boolean isFinite(Number number) {
        return Double.isFinite(number.doubleValue()) || number instanceof BigDecimal;
    }

    private static String describe(String name) {
        return "header \"" + name + "\"";
    }

    private static String type(Object value) {
        return value instanceof List
                ? "List"
                : value instanceof Map ? "Map" : value.getClass().getSimpleName();
    }
}
