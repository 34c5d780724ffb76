package dev.hapax.http.servlet;

import dev.hapax.NotBegunException;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.RetryableException;
import dev.hapax.TerminalFailure;
import dev.hapax.http.HttpResponse;
import dev.hapax.http.Operation;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import dev.hapax.http.Work;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One protected request, from the filter to its answer.
 *
 * <p>Two futures carry it. {@link #made} is the response that the servlet made: it is there when the chain has returned
 * without going asynchronous, when the asynchronous context was completed, or as soon as more was written than is kept.
 * {@link #outcome} is the response to send: it is there once the first one is stored, or when the servlet is not to run
 * at all.
 *
 * <p>Who sends it depends on who is there: the container's thread, which waits in the {@link RunLoop}; after a dispatch
 * the thread of that; a thread that the asynchronous context starts; or the thread that writes more than is kept, which
 * goes on writing straight to the client. The first one sends, the others wait until it has sent.
 */
final class Exchange implements Work {
    static final String ATTRIBUTE = Exchange.class.getName();

    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private final HttpServletRequest request;
    private final HttpServletResponse response;
    private final FilterChain chain;
    private final BufferedRequest buffered;
    private final CapturedResponse captured;
    private final HttpServletResponse presented;
    private final ErrorPage errorPage;
    private final RunLoop loop = new RunLoop();
    private final CompletableFuture<HttpResponse> made = new CompletableFuture<>();
    private final CompletableFuture<HttpResponse> outcome = new CompletableFuture<>();
    private volatile @Nullable GuardedAsyncContext async;
    private @Nullable Throwable thrownLate;
    private boolean begun;
    private boolean sent;

    Exchange(HttpServletRequest request, HttpServletResponse response, FilterChain chain, Means means) {
        this.request = request;
        this.response = response;
        this.chain = chain;
        this.buffered = new BufferedRequest(request, means.body(), this);
        this.captured = new CapturedResponse(response, means.maxBody(), this);
        boolean tomcat = request.getServletContext().getServerInfo().contains("Tomcat");
        this.presented = tomcat ? captured : new LookThrough(captured, response);
        this.errorPage = means.errorPage();
    }

    /**
     * What an exchange works with.
     *
     * @param body what the client sent
     * @param maxBody how much of a response is kept
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Means(byte[] body, int maxBody, ErrorPage errorPage) {}

    /** Runs the request, and returns when it is answered or asynchronous. */
    void begin(Function<Executor, CompletionStage<HttpResponse>> run) throws IOException, ServletException {
        run.apply(loop).whenComplete((answer, error) -> {
            outcome.complete(answer == null ? Problem.INTERNAL.response("the request could not be handled") : answer);
            loop.wake();
        });
        loop.runUntil(() -> outcome.isDone() || async != null);
        try {
            leave(loop.interrupted() && !begun ? shuttingDown().response() : null);
        } finally {
            if (loop.interrupted()) {
                response.flushBuffer(); // an interrupted thread cannot write
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The chain runs as a task of its own, so that the engine has the stage while the servlet still writes. */
    @Override
    public CompletionStage<HttpResponse> run(Operation operation) {
        if (loop.interrupted()) {
            throw shuttingDown();
        }
        loop.execute(() -> start(operation));
        return made;
    }

    private static ProblemException shuttingDown() {
        return new ProblemException(Problem.SHUTTING_DOWN, "the request was not begun");
    }

    private void start(Operation operation) {
        if (loop.interrupted()) {
            made.completeExceptionally(shuttingDown());
            return;
        }
        begun = true;
        request.setAttribute(ATTRIBUTE, this);
        if (operation.lease() != null) {
            request.setAttribute(HapaxFilter.OPERATION, operation);
        }
        pass(buffered, presented, chain);
    }

    /** The container carries out a dispatch of the asynchronous context. */
    void redispatched(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        async = null;
        pass(request, response, chain);
        leave(null);
    }

    private void pass(ServletRequest request, ServletResponse response, FilterChain chain) {
        try {
            chain.doFilter(request, response);
            if (async == null) {
                finish();
            }
        } catch (Throwable thrown) {
            async = null;
            fail(thrown);
        }
    }

    /** The container's thread goes; unless somebody else will answer later, it answers now. */
    private void leave(@Nullable HttpResponse instead) throws IOException, ServletException {
        GuardedAsyncContext running = async;
        if (running != null) {
            running.containerHasLeft();
            return;
        }
        send(instead == null ? outcome.join() : instead);
        if (request.isAsyncStarted()) {
            GuardedAsyncContext.end(request.getAsyncContext()); // the servlet threw after it had started it
        }
        if (thrownLate != null) {
            rethrow(thrownLate);
        }
    }

    private static void rethrow(Throwable thrown) throws IOException, ServletException {
        if (thrown instanceof IOException io) {
            throw io;
        } else if (thrown instanceof ServletException servlet) {
            throw servlet;
        } else if (thrown instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        throw new ServletException(thrown);
    }

    AsyncContext startAsync(ServletRequest with, ServletResponse and) {
        GuardedAsyncContext started = new GuardedAsyncContext(this, request.startAsync(with, and), with, and);
        async = started;
        return started;
    }

    /** A location that the client need not resolve, and that does not depend on the name it knows this server by. */
    String absolutePath(String location) {
        try {
            URI uri = URI.create(location);
            return uri.isAbsolute() || location.startsWith("/")
                    ? location
                    : URI.create(request.getRequestURI()).resolve(uri).toString();
        } catch (IllegalArgumentException crooked) {
            return location;
        }
    }

    /** The response as the servlet sees it. */
    HttpServletResponse presented() {
        return presented;
    }

    @Nullable
    GuardedAsyncContext async() {
        return async;
    }

    /** The servlet is done. */
    void finish() {
        try {
            if (made.isDone()) {
                captured.endStream();
            } else {
                made.complete(captured.finish(failure -> errorPage.render(failure, buffered, presented, captured)));
            }
        } catch (IOException | RuntimeException broken) {
            fail(broken);
        }
    }

    /** The servlet, or what it started, has thrown. */
    void fail(Throwable thrown) {
        Throwable cause = thrown instanceof ServletException wrapper && wrapper.getRootCause() != null
                ? wrapper.getRootCause()
                : thrown;
        if (made.isDone()) {
            thrownLate = thrown;
            log.warn("A servlet failed after its response was on the way", thrown);
        } else if (!isForTheEngine(cause) && errorPage.renders(cause)) {
            log.error("A servlet failed", thrown);
            captured.failed(cause);
            finish();
        } else {
            captured.discard();
            made.completeExceptionally(cause);
        }
    }

    private static boolean isForTheEngine(Throwable thrown) {
        return thrown instanceof OutcomeUnknownException
                || thrown instanceof TerminalFailure
                || thrown instanceof NotBegunException
                || thrown instanceof RetryableException
                || thrown instanceof ProblemException;
    }

    /** Nobody will hear from the servlet any more, whatever it does. */
    void lost(String why) {
        captured.discard();
        made.completeExceptionally(new OutcomeUnknownException(why, null));
    }

    /** More was written than is kept: recorded without its bytes, then everything goes straight to the client. */
    void overflow(HttpResponse beginning) throws IOException {
        made.complete(beginning);
        send(outcome.join());
    }

    /** Answers when there is an answer, from a thread of the asynchronous context, and ends that. */
    void sendLater(GuardedAsyncContext context) {
        outcome.whenComplete((answer, error) -> context.startIfAlive(() -> sendAndEnd(context)));
    }

    void sendAndEnd(GuardedAsyncContext context) {
        try {
            send(outcome.join());
        } catch (IOException | RuntimeException gone) {
            log.debug("A response is recorded, but its client is gone", gone);
        } finally {
            context.end();
        }
    }

    private synchronized void send(HttpResponse answer) throws IOException {
        if (sent) {
            return;
        }
        sent = true;
        if (isOwn(answer)) {
            captured.head().cookies().forEach(response::addCookie);
        }
        if (answer.rest() != captured) {
            captured.discard();
            Messages.send(request, response, answer);
            return;
        }
        Messages.sendHead(request, response, answer);
        if (captured.head().length() >= 0) {
            response.setContentLengthLong(captured.head().length());
        }
        response.getOutputStream().write(answer.body());
        captured.streamTo(response.getOutputStream());
    }

    /** Whether it is what the servlet made, and not an answer in its place. */
    private boolean isOwn(HttpResponse answer) {
        return made.isDone() && !made.isCompletedExceptionally() && made.join().body() == answer.body();
    }
}
