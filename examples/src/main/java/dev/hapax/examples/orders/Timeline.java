package dev.hapax.examples.orders;

import dev.hapax.gateway.Screen;

/** Says what happens and when, one line for each. Safe for use by many threads. */
final class Timeline {
    private final Screen screen;
    private final long began = System.nanoTime();

    Timeline(Screen screen) {
        this.screen = screen;
    }

    synchronized void say(String what) {
        double seconds = (System.nanoTime() - began) / 1e9;
        screen.line("  " + screen.dim("%5.1f s".formatted(seconds)) + "  " + what);
    }

    /** Something that went wrong, on purpose. */
    synchronized void mishap(String what) {
        say(screen.bold("✗ ") + what);
    }

    static String count(long number, String one, String many) {
        return "%,d %s".formatted(number, number == 1 ? one : many);
    }
}
