package dev.hapax.testkit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Lets many threads begin at the same moment. */
public final class AtOnce {
    private AtOnce() {}

    /** The same call, by many callers. */
    public static <T> List<T> call(int callers, Callable<T> call) throws Exception {
        return callAll(Collections.nCopies(callers, call));
    }

    /**
     * Each of the calls, by a caller of its own.
     *
     * @return what they returned, in order
     * @throws Exception what the first of them threw that did, as an {@link java.util.concurrent.ExecutionException}
     */
    public static <T> List<T> callAll(List<Callable<T>> calls) throws Exception {
        CyclicBarrier start = new CyclicBarrier(calls.size());
        ExecutorService threads = Executors.newFixedThreadPool(calls.size());
        try {
            List<Future<T>> answers = new ArrayList<>();
            for (Callable<T> call : calls) {
                answers.add(threads.submit(() -> {
                    start.await();
                    return call.call();
                }));
            }
            List<T> all = new ArrayList<>();
            for (Future<T> answer : answers) {
                all.add(answer.get());
            }
            return all;
        } finally {
            threads.shutdownNow();
        }
    }
}
