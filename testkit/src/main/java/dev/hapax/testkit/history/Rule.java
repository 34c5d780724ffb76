package dev.hapax.testkit.history;

import java.util.function.Consumer;

/** One thing that no operation's history may show. */
interface Rule {
    void check(OperationHistory history, Consumer<Violation> found);
}
