package dev.hapax;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A handler's turn on an executor. It begins once or is refused once, whatever happens: an executor may throw although
 * it has queued or run the task, or run it twice, and what carries the caller's context over may fail before the
 * handler is reached.
 */
final class HandlerTurn implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(HandlerTurn.class);

    private final UnaryOperator<Runnable> context;
    private final Runnable handler;
    private final Consumer<Throwable> refused;
    private final AtomicBoolean decided = new AtomicBoolean();

    HandlerTurn(UnaryOperator<Runnable> context, Runnable handler, Consumer<Throwable> refused) {
        this.context = context;
        this.handler = handler;
        this.refused = refused;
    }

    @Override
    public void run() {
        try {
            context.apply(this::begin).run();
        } catch (Throwable thrown) {
            refuse(thrown);
        }
    }

    private void begin() {
        if (decided.compareAndSet(false, true)) {
            handler.run();
        }
    }

    /** Unless it has begun. */
    void refuse(Throwable thrown) {
        if (decided.compareAndSet(false, true)) {
            refused.accept(thrown);
        } else {
            log.error("The executor or the context of a handler failed after its turn", thrown);
        }
    }
}
