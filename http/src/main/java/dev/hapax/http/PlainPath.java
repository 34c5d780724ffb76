package dev.hapax.http;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A path that everybody cuts into the same segments: no dot segments, no empty ones, no parameters, nothing encoded
 * that means something.
 *
 * @param segments decoded; a slash at the end of the path makes none
 * @param tidy whether nobody could make anything else of a segment: otherwise some servers see other letters in it
 */
record PlainPath(List<String> segments, boolean tidy) {
    private static final String MEANINGFUL = "/\\;?#";

    static Optional<PlainPath> of(String path) {
        if (!path.startsWith("/") || !Percent.isAscii(path)) {
            return Optional.empty();
        }
        List<String> segments = new ArrayList<>();
        boolean tidy = true;
        int from = 1;
        while (from < path.length()) {
            int slash = path.indexOf('/', from);
            int to = slash < 0 ? path.length() : slash;
            Optional<String> segment = Percent.decode(path.substring(from, to)).filter(PlainPath::isPlain);
            if (segment.isEmpty()) {
                return Optional.empty();
            }
            tidy &= isTidy(segment.get());
            segments.add(segment.get());
            from = to + 1;
        }
        return Optional.of(new PlainPath(segments, tidy));
    }

    private static boolean isPlain(String segment) {
        if (segment.isEmpty() || LoosePath.isDots(segment) || !hasPlainCharacters(segment)) {
            return false;
        }
        return Percent.isAscii(segment) || isPlainInOtherLetters(segment);
    }

    /** Some servers take similar characters for ASCII ones: a wide slash, a ligature of dots. */
    private static boolean isPlainInOtherLetters(String segment) {
        String folded = Normalizer.normalize(segment, Normalizer.Form.NFKC);
        return hasPlainCharacters(folded) && !LoosePath.isDots(folded);
    }

    private static boolean hasPlainCharacters(String segment) {
        for (int i = 0; i < segment.length(); i++) {
            char c = segment.charAt(i);
            if (Character.isISOControl(c) || MEANINGFUL.indexOf(c) >= 0 || Percent.anyEscapeAt(segment, i)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isTidy(String segment) {
        char last = segment.charAt(segment.length() - 1);
        return last != '.' && last != ' ' && segment.charAt(0) != ' ' && Percent.isAscii(segment);
    }
}
