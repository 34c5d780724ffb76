package dev.hapax;

import java.util.concurrent.Executor;

/**
 * A call and what it runs, for those that are begun many at a time: see {@link Hapax#runAll}.
 *
 * @param executor where the handler begins, once the call has won its claim; if it refuses, the claim is given back
 * @param completions where what is chained to the outcome runs. If it is the thread at hand ({@code Runnable::run}),
 *     nothing of that may block: other calls wait for that thread
 */
public record Task<T>(Call<T> call, AsyncHandler<T> handler, Executor executor, Executor completions) {

    /** What is chained to the outcome runs where the handler began. */
    public Task(Call<T> call, AsyncHandler<T> handler, Executor executor) {
        this(call, handler, executor, executor);
    }
}
