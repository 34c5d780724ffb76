package dev.hapax.postgres;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Lets many threads begin the same thing at the same moment. */
final class AtOnce {
    private AtOnce() {}

    static <T> List<T> call(int callers, Callable<T> call) throws Exception {
        CyclicBarrier start = new CyclicBarrier(callers);
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            List<Future<T>> answers = new ArrayList<>();
            for (Callable<T> each : Collections.nCopies(callers, call)) {
                answers.add(threads.submit(() -> {
                    start.await();
                    return each.call();
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
