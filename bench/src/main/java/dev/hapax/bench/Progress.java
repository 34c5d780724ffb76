package dev.hapax.bench;

import java.io.PrintStream;

/** Says what is being done, while it is done. */
final class Progress {
    private final PrintStream out;
    private final long began = System.nanoTime();

    Progress(PrintStream out) {
        this.out = out;
    }

    void begin(Figure figure) {
        say("%s: %s, against %s".formatted(figure.name(), figure.ours(), figure.theirs()));
    }

    void say(String what) {
        out.printf("[%3d s] %s%n", (System.nanoTime() - began) / 1_000_000_000, what);
    }
}
