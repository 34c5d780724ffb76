package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.codec.ResultType;
import dev.hapax.store.Fingerprint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Many items, each an operation of its own. Immutable.
 *
 * <pre>{@code
 * List<Batch.Result<Line, Receipt>> results = hapax.scope("imports")
 *     .batch(lines, Line::number)
 *     .returning(Receipt.class)
 *     .concurrency(8)
 *     .run((line, lease) -> importer.add(line, lease.downstreamKey("ledger")));
 * }</pre>
 */
public final class Batch<I, T> {
    private static final int DEFAULT_CONCURRENCY = 16;

    private final Hapax hapax;
    private final List<I> items;
    private final Function<? super I, Call<T>> callOf;
    private final int concurrency;

    private Batch(Hapax hapax, List<I> items, Function<? super I, Call<T>> callOf, int concurrency) {
        this.hapax = hapax;
        this.items = items;
        this.callOf = callOf;
        this.concurrency = concurrency;
    }

    static <I, T> Batch<I, T> of(Hapax hapax, Collection<I> items, Function<? super I, Call<T>> callOf) {
        return new Batch<>(hapax, List.copyOf(items), callOf, DEFAULT_CONCURRENCY);
    }

    /** What is done with one item. */
    @FunctionalInterface
    public interface ItemHandler<I, T> {
        T run(I item, Lease lease) throws Exception;
    }

    /**
     * What became of one item: an outcome, or what its call threw.
     *
     * @param outcome {@code null} if the call threw
     * @param thrown {@code null} if it did not
     */
    public record Result<I, T>(
            I item, @Nullable Outcome<T> outcome, @Nullable Throwable thrown) {}

    /** The bytes of each item's request. If omitted, reuse of a key for another item goes undetected. */
    public Batch<I, T> fingerprint(Function<? super I, byte[]> requestBytes) {
        return calling(item -> callOf.apply(item).fingerprint(Fingerprint.of(requestBytes.apply(item))));
    }

    /** @see Call#returning(Class) */
    public <R> Batch<I, R> returning(Class<R> type) {
        return returning(hapax.codecs().codecFor(type));
    }

    /** @see Call#returning(ResultType) */
    public <R> Batch<I, R> returning(ResultType<R> type) {
        return returning(hapax.codecs().codecFor(type));
    }

    public <R> Batch<I, R> returning(Codec<R> codec) {
        return calling(item -> callOf.apply(item).returning(codec));
    }

    private <R> Batch<I, R> calling(Function<? super I, Call<R>> other) {
        return new Batch<>(hapax, items, other, concurrency);
    }

    /** How many items may be claimed and running at a time. Default: 16. */
    public Batch<I, T> concurrency(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("concurrency is " + most + "; at least 1 is needed");
        }
        return new Batch<>(hapax, items, callOf, most);
    }

    /**
     * Runs the handler for every item that did not run before, and waits for all of them. An item is claimed only when
     * it can run at once, so that none is kept from other processes; claims travel together. One item's failure does
     * not stop the others. An interrupted caller begins no further item, and returns when those under way have ended.
     *
     * @return what became of each item, in the order of the items; of two items with the same key, one runs and the
     *     other gets what its policy says of an operation in flight, or the stored result
     * @throws IllegalStateException on a thread of Hapax or its store, which must not block
     */
    public List<Result<I, T>> run(ItemHandler<I, T> handler) {
        Engine.requireNoServiceThread();
        return new Progress(handler).run();
    }

    /** One run of the batch. Belongs to the calling thread; items report to a queue. */
    private final class Progress {
        private final ItemHandler<I, T> handler;
        private final BlockingQueue<Integer> ended = new LinkedBlockingQueue<>();
        private final List<@Nullable Result<I, T>> results = new ArrayList<>();
        private int begun;
        private int running;
        private boolean interrupted;

        Progress(ItemHandler<I, T> handler) {
            this.handler = handler;
            items.forEach(item -> results.add(null));
        }

        List<Result<I, T>> run() {
            while (running > 0 || (begun < items.size() && !interrupted)) {
                beginSome();
                awaitSome();
            }
            for (; begun < items.size(); begun++) {
                I item = items.get(begun);
                results.set(begun, new Result<>(item, null, interrupted(item)));
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return results.stream().<Result<I, T>>map(Objects::requireNonNull).toList();
        }

        private RuntimeException interrupted(I item) {
            try {
                return new CallInterruptedException(callOf.apply(item).id());
            } catch (RuntimeException unusable) {
                return unusable;
            }
        }

        private void beginSome() {
            List<Integer> indexes = new ArrayList<>();
            List<Task<T>> tasks = new ArrayList<>();
            while (running < concurrency && begun < items.size() && !interrupted) {
                int index = begun++;
                I item = items.get(index);
                try {
                    tasks.add(new Task<>(callOf.apply(item), lease -> handle(item, lease), hapax.handlers()));
                    indexes.add(index);
                    running++;
                } catch (RuntimeException unusable) { // its key, for example
                    results.set(index, new Result<>(item, null, unusable));
                }
            }
            List<CompletionStage<Outcome<T>>> outcomes = hapax.runAll(tasks);
            for (int i = 0; i < tasks.size(); i++) {
                report(indexes.get(i), outcomes.get(i));
            }
        }

        private void report(int index, CompletionStage<Outcome<T>> stage) {
            stage.whenComplete((outcome, error) -> {
                Throwable thrown = error == null ? null : Stages.cause(error);
                results.set(index, new Result<>(items.get(index), outcome, thrown));
                ended.add(index);
            });
        }

        private CompletionStage<T> handle(I item, Lease lease) throws Exception {
            return CompletableFuture.completedFuture(handler.run(item, lease));
        }

        /** Takes all that have ended, at least one, so that the next claims travel together too. */
        private void awaitSome() {
            boolean taken = running == 0;
            while (!taken) {
                try {
                    ended.take();
                    running--;
                    taken = true;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            running -= ended.drainTo(new ArrayList<>());
        }
    }
}
