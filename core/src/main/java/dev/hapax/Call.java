package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.codec.ResultType;
import dev.hapax.store.Durations;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.Snapshot;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** One operation, ready to run. Immutable; may be run more than once, which is what it is for. */
public final class Call<T> {
    private final Hapax hapax;
    private final Runner runner;
    private final Request<T> request;

    Call(Hapax hapax, Runner runner, Request<T> request) {
        this.hapax = hapax;
        this.runner = runner;
        this.request = request;
    }

    /**
     * The bytes of the request: the same key with other bytes never runs. If omitted, requests are not compared, and
     * reuse of a key goes undetected.
     */
    public Call<T> fingerprint(byte[] requestBytes) {
        return fingerprint(Fingerprint.of(requestBytes));
    }

    public Call<T> fingerprint(Fingerprint fingerprint) {
        Objects.requireNonNull(fingerprint, "fingerprint");
        return with(request.withFingerprint(fingerprint));
    }

    /**
     * How long the call may take until it is decided whether its handler runs: the claim, the wait for another call and
     * the wait for a locked operation together. It does not bound the handler. Default: none; the policy and the store
     * bound each of them.
     *
     * <p>When it passes the call fails with {@link CallTimeoutException}, and nothing ran.
     */
    public Call<T> timeout(Duration timeout) {
        return with(request.withTimeout(Durations.requirePositive(timeout, "timeout")));
    }

    /**
     * The type of the result. Default: {@code byte[]}.
     *
     * @throws IllegalArgumentException when there is no codec for the type
     */
    public <R> Call<R> returning(Class<R> type) {
        return returning(hapax.codecs().codecFor(type));
    }

    /**
     * The type of a result that has parameters: {@code returning(new ResultType<List<Line>>() {})}.
     *
     * @throws IllegalArgumentException when there is no codec for the type
     */
    public <R> Call<R> returning(ResultType<R> type) {
        return returning(hapax.codecs().codecFor(type));
    }

    public <R> Call<R> returning(Codec<R> codec) {
        Objects.requireNonNull(codec, "codec");
        return with(request.withCodec(codec));
    }

    /**
     * Runs the handler on this thread, unless the operation ran before or is running.
     *
     * <p>A {@link TerminalFailure}, or what the policy makes one, is an outcome and not thrown here: it comes out of
     * {@link Ending#value()}, now and for every retry.
     *
     * @throws X what the handler threw, if it may be tried again
     * @throws ClaimLostException when the handler was overtaken while it ran
     * @throws CallInterruptedException when this thread was interrupted while it waited for its turn: nothing ran
     * @throws ResultNotReadableException when the stored result cannot be decoded
     * @throws CallTimeoutException when the call's {@link #timeout} passed: nothing ran
     * @throws dev.hapax.store.StoreException when the store refused, or could not be reached: nothing ran
     * @throws IllegalStateException on a thread of Hapax or its store, which must not block
     */
    public <X extends Exception> Outcome<T> run(Handler<T, X> handler) throws X {
        return runner.run(request, handler);
    }

    /**
     * Does something once that has no result, as {@link #run} does: the shortest form.
     *
     * <pre>{@code
     * hapax.scope("mails").key("welcome-" + user).runOnce(() -> mailer.welcome(user));
     * }</pre>
     */
    public Outcome<Void> runOnce(Runnable action) {
        return runOnce(lease -> action.run());
    }

    /** Does something once that has no result, with its lease. */
    @SuppressWarnings("NullAway") // null is the only value of Void
    public <X extends Exception> Outcome<Void> runOnce(Action<X> action) throws X {
        return returning(Codec.nothing()).run(lease -> {
            action.run(lease);
            return null;
        });
    }

    /** What is done once, where there is no result. */
    @FunctionalInterface
    public interface Action<X extends Exception> {
        void run(Lease lease) throws X;
    }

    /**
     * Runs the handler on the handler executor, or not at all, as {@link #run} does. The calling thread never blocks;
     * what {@code run} throws, the stage fails with.
     *
     * <p>What is chained to the stage runs on the handler executor, so that it may take its time.
     *
     * @throws IllegalStateException within a transaction, which belongs to one thread
     */
    public CompletionStage<Outcome<T>> runAsync(AsyncHandler<T> handler) {
        return runAsync(handler, hapax.handlers());
    }

    /**
     * Runs the handler as {@link #runAsync(AsyncHandler)} does, on a thread of the caller's choice.
     *
     * <p>What follows the handler, such as encoding its result, happens on the thread that completes its stage.
     *
     * @param executor where the handler begins, and what is chained to the stage; if it refuses, the claim is released.
     *     If it is the thread at hand ({@code Runnable::run}), neither must block: other calls wait for that thread
     */
    public CompletionStage<Outcome<T>> runAsync(AsyncHandler<T> handler, Executor executor) {
        return runAsync(handler, executor, executor);
    }

    /**
     * Runs the handler as {@link #runAsync(AsyncHandler, Executor)} does, for executors that only take handlers: one
     * that is a place in a queue, or a thread that waits for this very outcome.
     *
     * @param completions where what is chained to the stage runs
     */
    public CompletionStage<Outcome<T>> runAsync(AsyncHandler<T> handler, Executor executor, Executor completions) {
        requireLeased();
        return hapax.engine().runAsync(new Task<>(this, handler, executor, completions));
    }

    void requireLeased() {
        if (runner != hapax.leased()) {
            throw new IllegalStateException("a transaction belongs to the thread that began it: use run");
        }
    }

    /** What the store knows of the operation; looks only. */
    public CompletionStage<Optional<Snapshot>> find() {
        return hapax.find(request.id());
    }

    OperationId id() {
        return request.id();
    }

    Request<T> request() {
        return request;
    }

    private <R> Call<R> with(Request<R> changed) {
        return new Call<>(hapax, runner, changed);
    }
}
