package dev.hapax.gateway.proxy;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;

/**
 * Moves a body from one stream to another, no faster than the other takes it. Belongs to one event loop.
 *
 * <p>It waits for one side at a time, with the patience there is for that side.
 */
final class Pump {
    private final ReadStream<Buffer> from;
    private final Flow flow;
    private final WriteStream<Buffer> to;
    private final Patience withSource;
    private final Patience withSink;
    private boolean stopped;

    Pump(ReadStream<Buffer> from, Flow flow, WriteStream<Buffer> to, Patience withSource, Patience withSink) {
        this.from = from;
        this.flow = flow;
        this.to = to;
        this.withSource = withSource;
        this.withSink = withSink;
    }

    /** Moves all of it, then runs what comes after. */
    void start(Runnable after) {
        from.handler(this::move);
        from.endHandler(end -> {
            if (!stopped) {
                stop();
                after.run();
            }
        });
        next();
    }

    /** Moves nothing more; waits for nothing. */
    void stop() {
        stopped = true;
        withSource.stop();
        withSink.stop();
    }

    /** Moves this before anything else. */
    void first(Buffer bytes) {
        to.write(bytes);
    }

    private void next() {
        if (stopped) {
            return;
        }
        if (to.writeQueueFull()) {
            flow.hold();
            withSource.stop();
            withSink.start();
            to.drainHandler(drained -> resume());
        } else {
            withSource.start();
            flow.release();
        }
    }

    private void resume() {
        if (!stopped) {
            withSink.stop();
            withSource.start();
            flow.release();
        }
    }

    private void move(Buffer bytes) {
        if (stopped) {
            return;
        }
        to.write(bytes);
        if (to.writeQueueFull()) {
            next();
        } else {
            withSource.start();
        }
    }
}
