package dev.hapax.gateway.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Guesses what somebody meant to write. */
final class Suggestions {
    private static final int LONGEST = 100;

    private Suggestions() {}

    /** The word that is likely to be meant, if one is. */
    static Optional<String> closest(String written, Collection<String> words) {
        if (written.length() > LONGEST) {
            return Optional.empty();
        }
        String plain = plain(written);
        return words.stream()
                .filter(word -> distance(plain, plain(word)) <= Math.max(1, word.length() / 3))
                .min(Comparator.comparingInt(word -> distance(plain, plain(word))));
    }

    /** The hint to put at the end of a sentence; empty when there is nothing to suggest. */
    static String hint(String written, Collection<String> words) {
        return closest(written, words)
                .map(word -> "; did you mean " + word + "?")
                .orElse("");
    }

    /** {@code whenInFlight}, {@code when_in_flight} and {@code when-in-flight} are one word. */
    private static String plain(String word) {
        return word.replaceAll("[-_ ]", "").toLowerCase(Locale.ROOT);
    }

    /** How many letters have to be put in, left out, changed or swapped with their neighbour. */
    private static int distance(String from, String to) {
        int[][] steps = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                steps[i][j] = i == 0 || j == 0 ? i + j : cheapest(steps, from, to, i, j);
            }
        }
        return steps[from.length()][to.length()];
    }

    private static int cheapest(int[][] steps, String from, String to, int i, int j) {
        int change = from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1;
        int best = Math.min(Math.min(steps[i - 1][j], steps[i][j - 1]) + 1, steps[i - 1][j - 1] + change);
        boolean swapped =
                i > 1 && j > 1 && from.charAt(i - 1) == to.charAt(j - 2) && from.charAt(i - 2) == to.charAt(j - 1);
        return swapped ? Math.min(best, steps[i - 2][j - 2] + 1) : best;
    }
}
