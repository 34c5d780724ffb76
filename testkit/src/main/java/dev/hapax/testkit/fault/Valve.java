package dev.hapax.testkit.fault;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** What slows or holds the bytes of one direction. Thread-safe; a held pump is freed by an interrupt. */
final class Valve {

    private long delayNanos;
    private boolean stalled;

    synchronized void delay(Duration delay) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("delay must not be negative: " + delay);
        }
        delayNanos = delay.toNanos();
    }

    synchronized void stall() {
        stalled = true;
    }

    synchronized void resume() {
        stalled = false;
        notifyAll();
    }

    /** Returns when the chunk in hand may go on. */
    void pass() throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(currentDelay());
        awaitFlow();
    }

    private synchronized long currentDelay() {
        return delayNanos;
    }

    private synchronized void awaitFlow() throws InterruptedException {
        while (stalled) {
            wait();
        }
    }
}
