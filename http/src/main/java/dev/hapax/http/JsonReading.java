package dev.hapax.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;

/**
 * Turns the tokens of a document into a {@link CanonicalJson}, in one pass and without recursion.
 *
 * <p>Members are written as they come. Where an object ends out of order, and only there, its part of the bytes is put
 * in order: a document that is sent the way it was sent before costs no sorting.
 */
final class JsonReading {
    private static final int INSERTION_SORT = 16;

    private final JsonParser parser;
    private final Bytes out;

    /** Where the open containers begin in the output, and the open objects in {@link #members}. */
    private int[] starts = new int[8];

    private int[] firstMembers = new int[8];
    private int depth;

    /** Where the members of all open objects begin in the output. */
    private int[] members = new int[16];

    private int memberCount;

    private JsonReading(JsonParser parser, int expected) {
        this.parser = parser;
        this.out = new Bytes(expected);
    }

    static Optional<CanonicalJson> read(byte[] body) {
        if (!Json.mayBeJson(body)) {
            return Optional.empty();
        }
        try (JsonParser parser = Json.parser(body)) {
            JsonReading reading = new JsonReading(parser, body.length + body.length / 2);
            return reading.all() ? Optional.of(reading.result()) : Optional.empty();
        } catch (ProblemException duplicates) {
            throw duplicates;
        } catch (IOException | RuntimeException notJson) {
            return Optional.empty();
        }
    }

    private CanonicalJson result() {
        return new CanonicalJson(out.array(), out.length());
    }

    private boolean all() throws IOException {
        JsonToken token = parser.nextToken();
        if (token == null) {
            return false;
        }
        do {
            if (!accept(token)) {
                return false;
            }
            token = parser.nextToken();
        } while (depth > 0 && token != null);
        return token == null;
    }

    private boolean accept(JsonToken token) throws IOException {
        switch (token) {
            case START_OBJECT -> begin(CanonicalJson.OBJECT);
            case START_ARRAY -> begin(CanonicalJson.ARRAY);
            case END_OBJECT -> {
                order();
                end();
            }
            case END_ARRAY -> end();
            case FIELD_NAME -> name(parser.currentName());
            case VALUE_STRING -> {
                out.put(CanonicalJson.TEXT);
                out.putText(parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength());
            }
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> {
                out.put(CanonicalJson.NUMBER);
                return JsonNumbers.write(
                        parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength(), out);
            }
            case VALUE_TRUE -> out.put(CanonicalJson.TRUE);
            case VALUE_FALSE -> out.put(CanonicalJson.FALSE);
            case VALUE_NULL -> out.put(CanonicalJson.NULL);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void begin(byte kind) {
        depth++;
        if (depth == starts.length) {
            starts = Arrays.copyOf(starts, 2 * depth);
            firstMembers = Arrays.copyOf(firstMembers, 2 * depth);
        }
        starts[depth] = out.length();
        firstMembers[depth] = memberCount;
        out.put(kind).putInt(0);
    }

    private void end() {
        int start = starts[depth];
        out.setInt(start + 1, out.length() - start - CanonicalJson.HEAD);
        memberCount = firstMembers[depth];
        depth--;
    }

    private void name(String name) {
        if (memberCount == members.length) {
            members = Arrays.copyOf(members, 2 * memberCount);
        }
        members[memberCount++] = out.length();
        out.put(CanonicalJson.TEXT).putText(name);
    }

    private void order() {
        int first = firstMembers[depth];
        for (int i = first + 1; i < memberCount; i++) {
            if (compare(members[i - 1], members[i]) >= 0) {
                sort(first);
                return;
            }
        }
    }

    private void sort(int first) {
        int count = memberCount - first;
        int[] order = count <= INSERTION_SORT ? insertionSorted(first, count) : mergeSorted(first, count);
        for (int i = 1; i < count; i++) {
            if (compare(members[first + order[i - 1]], members[first + order[i]]) == 0) {
                throw new ProblemException(
                        Problem.REQUEST_INVALID, "an object of the body has two members of the same name");
            }
        }
        int from = members[first];
        byte[] unordered = Arrays.copyOfRange(out.array(), from, out.length());
        int at = from;
        for (int member : order) {
            int start = members[first + member];
            int end = member == count - 1 ? from + unordered.length : members[first + member + 1];
            System.arraycopy(unordered, start - from, out.array(), at, end - start);
            at += end - start;
        }
    }

    private int[] insertionSorted(int first, int count) {
        int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            int at = i;
            while (at > 0 && compare(members[first + order[at - 1]], members[first + i]) > 0) {
                order[at] = order[at - 1];
                at--;
            }
            order[at] = i;
        }
        return order;
    }

    private int[] mergeSorted(int first, int count) {
        Integer[] order = new Integer[count];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> compare(members[first + a], members[first + b]));
        return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
    }

    /** Compares the names of two members: the shorter one first, which is as good an order as any. */
    private int compare(int a, int b) {
        byte[] array = out.array();
        int lengthOfA = Bytes.intAt(array, a + 1);
        int lengthOfB = Bytes.intAt(array, b + 1);
        if (lengthOfA != lengthOfB) {
            return Integer.compare(lengthOfA, lengthOfB);
        }
        int nameOfA = a + CanonicalJson.HEAD;
        int nameOfB = b + CanonicalJson.HEAD;
        return Arrays.compareUnsigned(array, nameOfA, nameOfA + lengthOfA, array, nameOfB, nameOfB + lengthOfB);
    }
}
