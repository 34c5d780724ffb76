package dev.hapax.http.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An asynchronous context that stores the response before it completes.
 *
 * <p>The container knows one listener only, and that one tells the application's: they must be given this context and
 * not the container's, and what they do about a timeout must have happened before the container looks.
 */
final class GuardedAsyncContext implements AsyncContext {
    private static final Logger log = LoggerFactory.getLogger(GuardedAsyncContext.class);

    private final Exchange exchange;
    private final AsyncContext real;
    private final ServletRequest request;
    private final ServletResponse response;
    private final List<Listening> listeners = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Void> containerLeft = new CompletableFuture<>();
    private CompletableFuture<Void> callbacks = containerLeft;
    private volatile boolean dispatching;

    private record Listening(
            AsyncListener listener,
            @Nullable ServletRequest request,
            @Nullable ServletResponse response) {}

    @FunctionalInterface
    interface Callback {
        void run() throws IOException;
    }

    /** The request and the response are kept here, because the container's context forgets them when a client goes. */
    GuardedAsyncContext(Exchange exchange, AsyncContext real, ServletRequest request, ServletResponse response) {
        this.exchange = exchange;
        this.real = real;
        this.request = request;
        this.response = response;
        real.addListener(new Ears());
    }

    @Override
    public ServletRequest getRequest() {
        return request;
    }

    @Override
    public ServletResponse getResponse() {
        return response;
    }

    @Override
    public boolean hasOriginalRequestAndResponse() {
        return response == exchange.presented();
    }

    @Override
    public void dispatch() {
        dispatching = true;
        real.dispatch();
    }

    @Override
    public void dispatch(String path) {
        dispatching = true;
        real.dispatch(path);
    }

    @Override
    public void dispatch(ServletContext context, String path) {
        dispatching = true;
        real.dispatch(context, path);
    }

    @Override
    public void complete() {
        exchange.finish();
        exchange.sendLater(this);
    }

    @Override
    public void start(Runnable task) {
        real.start(() -> {
            try {
                task.run();
            } catch (Throwable thrown) {
                failed(thrown);
            }
        });
    }

    private void failed(Throwable thrown) {
        tell((listener, event) -> listener.onError(event), thrown);
        if (!dispatching) {
            exchange.fail(thrown);
            exchange.sendLater(this);
        }
    }

    @Override
    public void addListener(AsyncListener listener) {
        listeners.add(new Listening(listener, null, null));
    }

    @Override
    public void addListener(AsyncListener listener, ServletRequest request, ServletResponse response) {
        listeners.add(new Listening(listener, request, response));
    }

    @Override
    public <T extends AsyncListener> T createListener(Class<T> type) throws ServletException {
        return real.createListener(type);
    }

    @Override
    public void setTimeout(long millis) {
        real.setTimeout(millis);
    }

    @Override
    public long getTimeout() {
        return real.getTimeout();
    }

    /** Runs a read or write listener's callback: after the container's thread has gone, and one at a time. */
    synchronized void callBack(Callback callback, java.util.function.Consumer<Throwable> onError) {
        callbacks = callbacks.thenRunAsync(
                () -> {
                    try {
                        callback.run();
                    } catch (Throwable thrown) {
                        onError.accept(thrown);
                    }
                },
                this::start);
    }

    void containerHasLeft() {
        containerLeft.complete(null);
    }

    /** A context that has ended has no client any more that could be told anything. */
    void startIfAlive(Runnable task) {
        try {
            real.start(task);
        } catch (IllegalStateException ended) {
            log.debug("A response is recorded, but its request has ended", ended);
        }
    }

    void end() {
        end(real);
    }

    static void end(AsyncContext context) {
        try {
            context.complete();
        } catch (IllegalStateException ended) {
            log.debug("The request has ended already", ended);
        }
    }

    @FunctionalInterface
    private interface Telling {
        void tell(AsyncListener listener, AsyncEvent event) throws IOException;
    }

    private void tell(Telling telling, @Nullable Throwable thrown) {
        for (Listening listening : listeners) {
            try {
                telling.tell(
                        listening.listener(), new AsyncEvent(this, listening.request(), listening.response(), thrown));
            } catch (IOException | RuntimeException broken) {
                log.warn("A listener of an asynchronous request failed", broken);
            }
        }
    }

    /** What the container tells. */
    private final class Ears implements AsyncListener {

        @Override
        public void onTimeout(AsyncEvent event) {
            tell((listener, own) -> listener.onTimeout(own), null);
            if (!dispatching) {
                exchange.lost("the request timed out before its servlet was done");
                exchange.sendAndEnd(GuardedAsyncContext.this);
            }
        }

        /** The connection is gone, or the like. The work goes on: whoever does it will complete it. */
        @Override
        public void onError(AsyncEvent event) {
            tell((listener, own) -> listener.onError(own), event.getThrowable());
        }

        @Override
        public void onComplete(AsyncEvent event) {
            tell((listener, own) -> listener.onComplete(own), event.getThrowable());
            if (dispatching && exchange.async() == GuardedAsyncContext.this) {
                log.error("HapaxFilter is not mapped for ASYNC: a dispatched response was stored but not sent");
                exchange.finish();
            }
        }

        @Override
        public void onStartAsync(AsyncEvent event) {
            tell((listener, own) -> listener.onStartAsync(own), null);
        }
    }
}
