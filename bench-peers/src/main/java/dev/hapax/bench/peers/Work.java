package dev.hapax.bench.peers;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What every peer's handler does: next to nothing, with a result that tells the first run from a second one. */
final class Work {
    static final String PROCESSOR = "bench";

    private static final int RESULT_LENGTH = 300;
    private static final String FIRST = Payload.text(RESULT_LENGTH);
    private static final String AGAIN = new StringBuilder(FIRST).reverse().toString();

    private Work() {}

    static String newKey() {
        return UUID.randomUUID().toString();
    }

    static String handle() {
        return FIRST;
    }

    /** The handler of a duplicate. Whoever sees its result knows that it ran, which it must not. */
    static String handleAgain() {
        return AGAIN;
    }

    static boolean isFirst(@Nullable String result) {
        return FIRST.equals(result);
    }

    static void require(boolean held, String what) {
        if (!held) {
            throw new IllegalStateException(what);
        }
    }
}
