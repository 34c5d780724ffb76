package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Values written in many ways are one; values that differ in one place are two; and garbage does no harm. */
final class CanonicalJsonFuzzTest {
    private static final int DOCUMENTS = 5_000;
    private static final String CHARACTERS = "ab\"\\/é漢 \u0001\u007f\u2028\t'";

    private Random random = new Random();

    private void seed() {
        long seed = System.nanoTime();
        System.out.println("CanonicalJsonFuzzTest seed " + seed);
        random = new Random(seed);
    }

    @Test
    void spellingDoesNotMatterAndMeaningDoes() {
        seed();
        for (int i = 0; i < DOCUMENTS; i++) {
            Object value = value(4);
            String first = write(value);
            String second = write(value);
            String digest = digest(first).orElseThrow(() -> new AssertionError(first));
            if (!digest(second).equals(Optional.of(digest))) {
                throw new AssertionError("differ, but should not:\n" + first + "\n" + second);
            }
            Object other = changed(value);
            String third = write(other);
            if (digest(third).equals(Optional.of(digest))) {
                throw new AssertionError("are the same, but should not be:\n" + first + "\n" + third);
            }
        }
    }

    @Test
    void damagedDocumentsAreReadOrNotButNeverFail() {
        seed();
        int read = 0;
        for (int i = 0; i < DOCUMENTS; i++) {
            byte[] bytes = write(value(4)).getBytes(StandardCharsets.UTF_8);
            for (int damage = random.nextInt(4); damage >= 0 && bytes.length > 0; damage--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                read += CanonicalJson.of(bytes).isPresent() ? 1 : 0;
            } catch (ProblemException duplicates) {
                assertThat(duplicates.problem()).isEqualTo(Problem.REQUEST_INVALID);
            }
        }
        assertThat(read).isBetween(1, DOCUMENTS - 1);
    }

    /** An independent reading of the same digits. */
    @Test
    void numbersAreComparedByTheirExactValue() {
        seed();
        for (int i = 0; i < 2 * DOCUMENTS; i++) {
            BigDecimal one = number();
            BigDecimal other =
                    random.nextBoolean() ? number() : one.add(BigDecimal.ONE.movePointLeft(random.nextInt(30)));
            boolean same = one.compareTo(other) == 0;
            boolean read = digest(notation(one)).equals(digest(notation(other)));
            if (same != read) {
                throw new AssertionError(one + " and " + other + (same ? " are the same" : " differ"));
            }
            String plain = CanonicalJson.of(notation(one).getBytes(StandardCharsets.UTF_8))
                    .flatMap(json -> json.scalar(JsonPointer.of("")))
                    .orElseThrow();
            if (new BigDecimal(plain).compareTo(one) != 0) {
                throw new AssertionError(one + " is shown as " + plain);
            }
        }
    }

    private static Optional<String> digest(String json) {
        return CanonicalJsonTest.digest(json.getBytes(StandardCharsets.UTF_8));
    }

    private Object value(int depth) {
        return switch (random.nextInt(depth == 0 ? 5 : 9)) {
            case 0 -> true;
            case 1 -> false;
            case 2 -> Optional.empty();
            case 3 -> number();
            case 4 -> text();
            case 5, 6 -> {
                List<Object> items = new ArrayList<>();
                for (int i = random.nextInt(5); i > 0; i--) {
                    items.add(value(depth - 1));
                }
                yield items;
            }
            default -> {
                Map<String, Object> members = new LinkedHashMap<>();
                for (int i = random.nextInt(random.nextInt(10) == 0 ? 40 : 6); i > 0; i--) {
                    members.put(text(), value(depth - 1));
                }
                yield members;
            }
        };
    }

    private BigDecimal number() {
        BigDecimal digits = new BigDecimal(new BigInteger(random.nextInt(80), random));
        BigDecimal number = digits.scaleByPowerOfTen(random.nextInt(30) - 15);
        return random.nextBoolean() ? number : number.negate();
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            text.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
        }
        return (random.nextInt(8) == 0 ? text.append("😀") : text).toString();
    }

    /** The same value but for one place in it. */
    private Object changed(Object value) {
        if (value instanceof List<?> items && !items.isEmpty()) {
            List<Object> copy = new ArrayList<>(items);
            int at = random.nextInt(copy.size());
            copy.set(at, changed(copy.get(at)));
            return copy;
        } else if (value instanceof Map<?, ?> members && !members.isEmpty()) {
            Map<Object, Object> copy = new LinkedHashMap<>(members);
            Object name = new ArrayList<>(copy.keySet()).get(random.nextInt(copy.size()));
            Object old = copy.remove(name);
            if (random.nextBoolean()) {
                copy.put(name, changed(old));
            }
            return copy;
        } else if (value instanceof BigDecimal number) {
            return number.add(BigDecimal.ONE.movePointLeft(number.scale() + 1));
        } else if (value instanceof String text) {
            return text + "x";
        } else if (value instanceof Boolean truth) {
            return !truth;
        }
        return value instanceof Optional<?> ? List.of(value) : Optional.empty();
    }

    private String write(Object value) {
        StringBuilder json = new StringBuilder();
        write(value, json);
        return json.toString();
    }

    private void write(Object value, StringBuilder json) {
        blank(json);
        if (value instanceof List<?> items) {
            json.append('[');
            for (int i = 0; i < items.size(); i++) {
                json.append(i == 0 ? "" : ",");
                write(items.get(i), json);
            }
            json.append(']');
        } else if (value instanceof Map<?, ?> members) {
            List<Object> names = new ArrayList<>(members.keySet());
            Collections.shuffle(names, random);
            json.append('{');
            for (int i = 0; i < names.size(); i++) {
                json.append(i == 0 ? "" : ",");
                write(names.get(i), json);
                json.append(':');
                write(members.get(names.get(i)), json);
            }
            json.append('}');
        } else if (value instanceof String text) {
            quote(text, json);
        } else {
            json.append(
                    value instanceof BigDecimal number ? notation(number) : value instanceof Boolean ? value : "null");
        }
        blank(json);
    }

    private void blank(StringBuilder json) {
        for (int i = random.nextInt(3); i > 1; i--) {
            json.append(" \t\r\n".charAt(random.nextInt(4)));
        }
    }

    private void quote(String text, StringBuilder json) {
        json.append('"');
        text.codePoints().forEach(c -> {
            boolean must = c < ' ' || c == '"' || c == '\\';
            if (must || random.nextInt(4) == 0) {
                for (char unit : Character.toChars(c)) {
                    json.append((random.nextBoolean() ? "\\u%04x" : "\\u%04X").formatted((int) unit));
                }
            } else {
                json.append(c == '/' && random.nextBoolean() ? "\\/" : Character.toString(c));
            }
        });
        json.append('"');
    }

    private String notation(BigDecimal number) {
        return switch (random.nextInt(4)) {
            case 0 -> number.toPlainString();
            case 1 -> number.unscaledValue() + (random.nextBoolean() ? "e" : "E") + -number.scale();
            case 2 -> number.toString();
            default -> {
                String plain = number.toPlainString();
                yield plain + (plain.contains(".") ? "00" : ".000") + (random.nextBoolean() ? "e+0" : "");
            }
        };
    }
}
