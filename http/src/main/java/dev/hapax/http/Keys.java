package dev.hapax.http;

/** The rules for every key, wherever it came from. */
final class Keys {
    static final int MAX_LENGTH = 255;

    private Keys() {}

    /** @throws ProblemException unless it has 1–255 visible ASCII characters */
    static String require(String key) {
        if (key.isEmpty() || key.length() > MAX_LENGTH) {
            throw new ProblemException(
                    Problem.KEY_INVALID,
                    "the key has %d characters; 1 to %d are allowed".formatted(key.length(), MAX_LENGTH));
        }
        if (!isVisibleAscii(key)) {
            throw new ProblemException(
                    Problem.KEY_INVALID, "the key holds something other than visible ASCII characters");
        }
        return key;
    }

    static boolean isVisibleAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '!' || text.charAt(i) > '~') {
                return false;
            }
        }
        return true;
    }
}
