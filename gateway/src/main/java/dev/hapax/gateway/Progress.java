package dev.hapax.gateway;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** Tells the user what is going on, but only when it takes long enough to wonder. */
public final class Progress {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final PrintWriter out;

    public Progress(PrintWriter out) {
        this.out = out;
    }

    /** Does it, and says so when it is not done soon. */
    public <T> T during(String what, Supplier<T> work) {
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture.delayedExecutor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> say(what, done));
        try {
            return work.get();
        } finally {
            done.set(true);
        }
    }

    private void say(String what, AtomicBoolean done) {
        if (!done.get()) {
            out.println(what + " …");
            out.flush();
        }
    }
}
