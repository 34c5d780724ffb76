package dev.hapax.postgres;

import dev.hapax.store.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinWorkerThread;
import org.jspecify.annotations.Nullable;

/**
 * What one caller asks of a {@link Batcher}, and the answer to it.
 *
 * <p><b>Callers wake each other.</b> To wake a thread takes longer than to write a row. So the thread that sent a batch
 * wakes only a few of the callers that wait, and each of those wakes the next one before it goes on: the sender is free
 * earlier, and the processors are not flooded with threads that stand in the way of the next batch. A caller is left to
 * wake the next one only if it sleeps. If it is still on its way to sleep, was interrupted, or may be kept from running
 * by others (see {@link #runsOnceWoken}), the sender passes it and goes on with the next one itself.
 */
final class PendingRequest<Q, A> {
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    /** How many callers wake one after the other, at most: each may have to wait for a processor. */
    private static final int MAX_CHAIN = 32;

    private final Q request;
    private final boolean waited;
    private final CompletableFuture<A> answer = new CompletableFuture<>();
    private final long submittedAt = System.nanoTime();
    private @Nullable Decision<A> decision;
    private volatile @Nullable PendingRequest<Q, A> next;
    private volatile boolean asleep;

    private PendingRequest(Q request, boolean waited) {
        this.request = request;
        this.waited = waited;
    }

    /** Of a caller that does not wait. */
    static <Q, A> PendingRequest<Q, A> of(Q request) {
        return new PendingRequest<>(request, false);
    }

    /** Of a thread that is going to {@link #await}. */
    static <Q, A> PendingRequest<Q, A> waited(Q request) {
        return new PendingRequest<>(request, true);
    }

    /**
     * Whether a thread runs once it is woken, whatever others do. A virtual one needs a carrier first; a worker of a
     * fork-join pool may have begun something else while it waited.
     */
    static boolean runsOnceWoken(Thread thread) {
        return !isVirtual(thread) && !(thread instanceof ForkJoinWorkerThread);
    }

    /** What {@code Thread.isVirtual} tells from Java 21 on. */
    static boolean isVirtual(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        return group != null && group.getName().equals("VirtualThreads");
    }

    Q request() {
        return request;
    }

    CompletableFuture<A> answer() {
        return answer;
    }

    /** How long ago it was submitted. */
    Duration age() {
        return Duration.ofNanos(System.nanoTime() - submittedAt);
    }

    /** What the last batch came to, if it came to anything. */
    @Nullable
    Decision<A> decision() {
        return decision;
    }

    /** Forgets the last batch. */
    void reopen() {
        decision = null;
    }

    /** Whether there is something to tell the caller. */
    boolean isSettled() {
        return decision != null && !(decision instanceof Decision.Locked);
    }

    /** Waits for the answer, unless interrupted. */
    void await() {
        asleep = runsOnceWoken(Thread.currentThread());
        try {
            answer.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | CancellationException e) {
            return; // the caller finds out when it looks at the answer
        } finally {
            asleep = false;
            if (answer.isDone()) {
                notifyFrom(next);
            }
        }
    }

    /** What {@link #notifyCaller} is going to tell. */
    void decide(Decision<A> decision) {
        this.decision = decision;
    }

    /** Notifies all callers: those that wait in the given order, some by way of others. */
    static <Q, A> void notifyAll(List<PendingRequest<Q, A>> requests) {
        List<PendingRequest<Q, A>> waited =
                requests.stream().filter(it -> it.waited).toList();
        int chains = Math.min(waited.size(), Math.max(PROCESSORS, waited.size() / MAX_CHAIN + 1));
        for (int i = chains; i < waited.size(); i++) {
            waited.get(i - chains).next = waited.get(i);
        }
        waited.subList(0, chains).forEach(PendingRequest::notifyFrom);
        requests.stream().filter(it -> !it.waited).forEach(PendingRequest::notifyOne);
    }

    /**
     * Notifies this caller and those after it, up to one that sleeps. The sender asks whether a caller sleeps after it
     * has notified it; the caller looks whether it was notified after it has stopped sleeping: one of the two goes on.
     */
    private static <Q, A> void notifyFrom(@Nullable PendingRequest<Q, A> first) {
        PendingRequest<Q, A> pending = first;
        while (pending != null) {
            pending.notifyOne();
            pending = pending.asleep ? null : pending.next;
        }
    }

    /** What fails for one caller concerns no other. */
    private void notifyOne() {
        try {
            notifyCaller();
        } catch (RuntimeException | Error e) {
            breakOff(e);
        }
    }

    /** Tells the caller that its request was not seen to the end, unless it has been told something already. */
    void breakOff(Throwable error) {
        answer.completeExceptionally(new StoreUnavailableException("The batch broke off: " + error, error));
    }

    /** Tells the caller, who may go on with other things on this thread. */
    void notifyCaller() {
        if (decision instanceof Decision.Answered<A> answered) {
            answer.complete(answered.answer());
        } else if (decision instanceof Decision.Refused<A> refused) {
            answer.completeExceptionally(refused.cause());
        } else {
            answer.completeExceptionally(new StoreUnavailableException("The batch broke off.", null));
        }
    }
}
