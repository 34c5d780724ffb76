package dev.hapax.http;

import dev.hapax.http.PathPattern.Segment;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Everything that some server might make of a path.
 *
 * <p>Servers differ in how often they decode, what they take for a slash, whether they strip parameters, merge slashes,
 * resolve dots, drop control characters, and in which order. Rather than to try all of that, the path is cut as finely
 * as anybody could cut it, decoded as often as anybody could. Whatever a server then sees is this sequence of pieces
 * with some left out, or some joined. What may be left out: dots and nothing; one piece more for every {@code ..}; what
 * follows a {@code ;} within a segment; the whole rest after a character that may end a path. What is joined is no
 * literal of a pattern, but may stand for a name in it. This says yes too often and never too seldom.
 */
final class LoosePath {
    private static final int MOST_PIECES = 64;
    private static final int MOST_DECODINGS = 4;

    private final List<Piece> pieces;
    private final int ups;

    private LoosePath(List<Piece> pieces) {
        this.pieces = pieces;
        this.ups = (int) pieces.stream().filter(Piece::up).count();
    }

    /**
     * @param readings what the piece may be taken for
     * @param optional whether a server may leave it out
     * @param up whether it may stand for the parent, so that the piece before is left out too
     * @param joined whether a server may take it for a part of the piece before
     * @param ends whether the path may end with it
     */
    private record Piece(Set<String> readings, boolean optional, boolean up, boolean joined, boolean ends) {}

    /** @return empty if the path cannot be read at all: then it could mean anything */
    static Optional<LoosePath> of(String path) {
        List<Piece> pieces = new ArrayList<>();
        if (!path.startsWith("/")) {
            return Optional.empty();
        }
        for (String segment : path.substring(1).split("/", -1)) {
            Optional<String> decoded = decodeFully(segment);
            if (decoded.isEmpty() || pieces.size() > MOST_PIECES) {
                return Optional.empty();
            }
            addPieces(decoded.get(), pieces);
        }
        return pieces.size() > MOST_PIECES ? Optional.empty() : Optional.of(new LoosePath(pieces));
    }

    private static Optional<String> decodeFully(String segment) {
        Optional<String> decoded = Percent.decode(segment);
        for (int i = 1; i < MOST_DECODINGS && decoded.isPresent() && hasEscape(decoded.get()); i++) {
            decoded = Percent.decode(loneSignsEscaped(decoded.get()));
        }
        return decoded.filter(text -> !hasEscape(text) && !changesShape(text));
    }

    private static boolean hasEscape(String text) {
        for (int i = text.indexOf('%'); i >= 0; i = text.indexOf('%', i + 1)) {
            if (Percent.anyEscapeAt(text, i)) {
                return true;
            }
        }
        return false;
    }

    /** A percent sign that was itself encoded stays what it is; so does what is not ASCII. */
    private static String loneSignsEscaped(String text) {
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean escape = c == '%' && Percent.escapeAt(text, i);
            escaped.append(c < 0x80 && (c != '%' || escape) ? String.valueOf(c) : Percent.encode(whole(text, i)));
            i += Character.isHighSurrogate(c) ? 1 : 0;
        }
        return escaped.toString();
    }

    private static String whole(String text, int index) {
        return Character.toString(text.codePointAt(index));
    }

    /** Whether there are characters that some servers take for ones with a meaning. */
    private static boolean changesShape(String text) {
        return !Percent.isAscii(text)
                && text.codePoints()
                        .filter(c -> c >= 0x80)
                        .anyMatch(c -> fold(Character.toString(c)).chars().anyMatch(f -> "/\\;?#%".indexOf(f) >= 0));
    }

    private static void addPieces(String segment, List<Piece> pieces) {
        boolean afterParameters = false;
        boolean first = true;
        for (String text : segment.split("[/\\\\]", -1)) {
            pieces.add(piece(text, !first, afterParameters));
            afterParameters |= text.indexOf(';') >= 0;
            first = false;
        }
    }

    private static Piece piece(String text, boolean joined, boolean afterParameters) {
        String cut = tidy(text.substring(0, endOf(text, true)));
        String dropped = tidy(withoutControls(text.substring(0, endOf(text, false))));
        boolean dots = isDots(cut) || isDots(dropped);
        return new Piece(
                new HashSet<>(List.of(withoutLastDots(cut), withoutLastDots(dropped))),
                dots || afterParameters,
                isUp(cut) || isUp(dropped),
                joined,
                endOf(text, true) < text.length());
    }

    private static int endOf(String text, boolean atControls) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (";?#".indexOf(c) >= 0 || (atControls && Character.isISOControl(c))) {
                return i;
            }
        }
        return text.length();
    }

    private static String withoutControls(String text) {
        StringBuilder kept = new StringBuilder();
        text.chars().filter(c -> !Character.isISOControl(c)).forEach(c -> kept.append((char) c));
        return kept.toString();
    }

    private static String tidy(String text) {
        return (Percent.isAscii(text) ? text : fold(text)).strip();
    }

    private static String fold(String text) {
        StringBuilder kept = new StringBuilder();
        Normalizer.normalize(text, Normalizer.Form.NFKC)
                .codePoints()
                .filter(c -> Character.getType(c) != Character.FORMAT)
                .forEach(kept::appendCodePoint);
        return kept.toString();
    }

    private static String withoutLastDots(String text) {
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == '.' || text.charAt(end - 1) == ' ')) {
            end--;
        }
        return text.substring(0, end);
    }

    /** Whether there is nothing but dots, or nothing at all. */
    static boolean isDots(String text) {
        return text.chars().allMatch(c -> c == '.');
    }

    private static boolean isUp(String text) {
        return text.length() > 1 && isDots(text);
    }

    /** Whether somebody might read the path as one that fits. */
    boolean mayFit(PathPattern pattern) {
        return new Search(pattern).from(0, 0, ups);
    }

    /** Walks pieces and segments side by side, in every way there is, and no way twice. */
    private final class Search {
        private final List<Segment> segments;
        private final boolean anyRest;
        private final Set<Integer> failed = new HashSet<>();

        Search(PathPattern pattern) {
            segments = pattern.segments();
            anyRest = pattern.anyRest();
        }

        boolean from(int piece, int segment, int drops) {
            if (segment == segments.size() && (anyRest || piece == pieces.size() || endsAt(piece))) {
                return true;
            }
            int state = (piece * (MOST_PIECES + 1) + drops) * (segments.size() + 1) + segment;
            if (piece == pieces.size() || failed.contains(state)) {
                return false;
            }
            boolean found = leavingOut(piece, segment, drops) || taking(piece, segment, drops);
            if (!found) {
                failed.add(state);
            }
            return found;
        }

        private boolean endsAt(int piece) {
            return piece > 0 && pieces.get(piece - 1).ends();
        }

        private boolean leavingOut(int piece, int segment, int drops) {
            return pieces.get(piece).optional()
                    ? from(piece + 1, segment, drops)
                    : drops > 0 && from(piece + 1, segment, drops - 1);
        }

        private boolean taking(int piece, int segment, int drops) {
            if (segment == segments.size()) {
                return false;
            }
            Segment wanted = segments.get(segment);
            if (!wanted.named()) {
                return pieces.get(piece).readings().stream().anyMatch(wanted::reads)
                        && from(piece + 1, segment + 1, drops);
            }
            int next = piece + 1;
            while (!from(next, segment + 1, drops)) {
                if (next == pieces.size() || !pieces.get(next).joined()) {
                    return false;
                }
                next++;
            }
            return true;
        }
    }
}
