package dev.hapax.gateway.proxy;

import io.vertx.core.Vertx;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Does something when it has waited for too long. Belongs to the event loop it was made on. */
final class Patience {
    /** Waits for ever. */
    static final Patience ENDLESS = new Patience(null, Duration.ZERO, () -> {});

    private static final long NONE = -1;

    private final @Nullable Vertx vertx;
    private final Duration limit;
    private final Runnable atItsEnd;
    private long timer = NONE;
    private long since;

    private Patience(@Nullable Vertx vertx, Duration limit, Runnable atItsEnd) {
        this.vertx = vertx;
        this.limit = limit;
        this.atItsEnd = atItsEnd;
    }

    static Patience of(Vertx vertx, Duration limit, Runnable atItsEnd) {
        return new Patience(vertx, limit, atItsEnd);
    }

    /** Waits from now on; from now on again, if it waits already. */
    void start() {
        if (vertx == null) {
            return;
        }
        since = System.nanoTime();
        if (timer == NONE) {
            checkIn(vertx, limit.toNanos());
        }
    }

    void stop() {
        if (vertx != null && timer != NONE) {
            vertx.cancelTimer(timer);
            timer = NONE;
        }
    }

    private void checkIn(Vertx vertx, long nanos) {
        timer = vertx.setTimer(Math.max(1, nanos / 1_000_000), fired -> check(vertx));
    }

    private void check(Vertx vertx) {
        timer = NONE;
        long left = limit.toNanos() - (System.nanoTime() - since);
        if (left > 0) {
            checkIn(vertx, left);
        } else {
            atItsEnd.run();
        }
    }
}
