package dev.hapax.postgres;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinWorkerThread;
import org.jspecify.annotations.Nullable;

/**
 * What one caller asks of a {@link Lane}, and the answer to it.
 *
 * <p>To wake a thread takes longer than to write a row. So who has done a round wakes only as many callers as there are
 * processors, and each of them wakes the next one before it goes on: the waking is shared, and the processors are not
 * flooded with threads that stand in the way of the next round. Callers without a thread are told directly, and so are
 * threads that others may keep from running.
 */
final class Job<Q, A> {
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    private final Q request;
    private final @Nullable Thread caller;
    private final CompletableFuture<A> answer = new CompletableFuture<>();
    private final long submittedAt = System.nanoTime();
    private @Nullable A answered;
    private @Nullable Job<Q, A> next;

    private Job(Q request, @Nullable Thread caller) {
        this.request = request;
        this.caller = caller;
    }

    /** Of a caller that does not wait. */
    static <Q, A> Job<Q, A> of(Q request) {
        return new Job<>(request, null);
    }

    /** Of the current thread, which is to {@link #await}. */
    static <Q, A> Job<Q, A> ofThisThread(Q request) {
        Thread thread = Thread.currentThread();
        return new Job<>(request, isPrompt(thread) ? thread : null);
    }

    /**
     * Whether a thread runs soon once it is woken, whatever others do. A virtual one needs a carrier first; a worker of
     * a fork-join pool may have begun something else while it waited.
     */
    static boolean isPrompt(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        boolean virtual = group != null && group.getName().equals("VirtualThreads");
        return !virtual && !(thread instanceof ForkJoinWorkerThread);
    }

    Q request() {
        return request;
    }

    CompletableFuture<A> answer() {
        return answer;
    }

    long submittedAt() {
        return submittedAt;
    }

    /** Waits for the answer, unless interrupted, and sees to it that the next one is told. */
    void await() {
        try {
            answer.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | CancellationException e) {
            return; // who looks at the answer finds out
        } finally {
            if (answer.isDone()) {
                tellNext();
            } else {
                answer.whenComplete((told, error) -> tellNext());
            }
        }
    }

    /** What the caller is going to be told. */
    void answer(A answered) {
        this.answered = answered;
    }

    private void tell() {
        answer.complete(answered);
    }

    private void tellNext() {
        if (next != null) {
            next.tell();
        }
    }

    /** Tells all of them what was answered, in this order, some by way of others. */
    static <Q, A> void tell(List<Job<Q, A>> jobs) {
        List<Job<Q, A>> now = new ArrayList<>();
        Queue<Job<Q, A>> wakers = new ArrayDeque<>();
        for (Job<Q, A> job : jobs) {
            boolean sleeps = job.caller != null && job.caller != Thread.currentThread();
            if (sleeps && wakers.size() == PROCESSORS) {
                wakers.remove().next = job;
            } else {
                now.add(job);
            }
            if (sleeps) {
                wakers.add(job);
            }
        }
        now.forEach(Job::tell);
    }
}
