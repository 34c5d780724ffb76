package dev.hapax.gateway.proxy;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;

/**
 * What a client still sends after it was answered. It is read and forgotten: closing at once would reset the
 * connection, and the answer might be lost with it. Belongs to the request's event loop.
 */
final class LastBytes {
    private static final Duration LONGEST = Duration.ofSeconds(2);
    private static final long MOST = 1 << 20;

    private final HttpServerRequest request;
    private final Patience patience;
    private long read;

    LastBytes(HttpServerRequest request, Vertx vertx) {
        this.request = request;
        this.patience = Patience.of(vertx, LONGEST, this::close);
    }

    /** @param thenClose whether the connection is of no more use; if it takes too long it is closed in any case */
    void discard(boolean thenClose) {
        if (request.isEnded()) {
            end(thenClose);
            return;
        }
        patience.start();
        request.handler(this::forget);
        request.endHandler(end -> end(thenClose));
        request.exceptionHandler(failure -> patience.stop());
        request.resume();
    }

    private void forget(Buffer bytes) {
        read += bytes.length();
        if (read > MOST) {
            close();
        }
    }

    private void end(boolean thenClose) {
        patience.stop();
        if (thenClose) {
            close();
        }
    }

    private void close() {
        patience.stop();
        request.connection().close();
    }
}
