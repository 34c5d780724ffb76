package dev.hapax.testkit.fault;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The one fault that waits for its write, and the account of those that fired. Thread-safe: of many connections that
 * write at once exactly one springs it.
 */
final class Trap {

    private final List<FiredFault> fired = new ArrayList<>();
    private @Nullable Armed armed;
    private boolean underWay;

    synchronized void arm(FiredFault.Kind kind, int writesToPass, Predicate<ByteBuffer> trigger) {
        if (writesToPass < 0) {
            throw new IllegalArgumentException("writes must not be negative: " + writesToPass);
        }
        if (armed != null || underWay) {
            throw new IllegalStateException("a fault is still armed; disarm it first");
        }
        armed = new Armed(kind, writesToPass, trigger);
    }

    synchronized boolean disarm() {
        boolean wasArmed = armed != null;
        armed = null;
        notifyAll();
        return wasArmed;
    }

    /** Shows the trap a write on its way to the server; whoever gets a kind back must do it and then report it. */
    synchronized Optional<FiredFault.Kind> spring(ByteBuffer write) {
        if (armed == null || !armed.trigger.test(write)) {
            return Optional.empty();
        }
        if (armed.writesToPass > 0) {
            armed = new Armed(armed.kind, armed.writesToPass - 1, armed.trigger);
            return Optional.empty();
        }
        FiredFault.Kind kind = armed.kind;
        armed = null;
        underWay = true;
        return Optional.of(kind);
    }

    synchronized void report(FiredFault fault) {
        fired.add(fault);
        underWay = false;
        notifyAll();
    }

    synchronized List<FiredFault> fired() {
        return List.copyOf(fired);
    }

    /** Waits until nothing is armed or under way; false if that takes longer than the timeout. */
    synchronized boolean awaitIdle(Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (armed != null || underWay) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            // Rounded up: wait(0) would wait for ever.
            wait(left / 1_000_000 + 1);
        }
        return true;
    }

    private record Armed(FiredFault.Kind kind, int writesToPass, Predicate<ByteBuffer> trigger) {}
}
