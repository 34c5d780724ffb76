package dev.hapax;

import java.util.concurrent.Executor;

/**
 * A call and what it runs, for those that are begun many at a time: see {@link Hapax#runAll}.
 *
 * @param executor where the handler begins, once the call has won its claim; if it refuses, the claim is given back
 */
public record Task<T>(Call<T> call, AsyncHandler<T> handler, Executor executor) {}
