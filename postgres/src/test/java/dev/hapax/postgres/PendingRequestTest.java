package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntPredicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that wait for their answers wake each other. */
@Timeout(60)
class PendingRequestTest {
    private static final int CALLERS = 1_000;

    private final List<PendingRequest<Integer, Integer>> requests = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = new ArrayList<>();

    @Test
    void everyCallerIsNotified() throws InterruptedException {
        callers(number -> true);

        notifyAllCallers();

        everyCallerHasItsAnswer();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void interruptedCallersDoNotBreakTheChain(int everyNth) throws InterruptedException {
        callers(number -> true);
        for (int i = 0; i < CALLERS; i += everyNth) {
            threads.get(i).interrupt();
            threads.get(i).join();
        }

        notifyAllCallers();

        everyCallerHasItsAnswer();
    }

    @Test
    void callersInterruptedMeanwhileDoNotBreakTheChain() throws InterruptedException {
        callers(number -> true);
        Thread interrupting = new Thread(() -> threads.forEach(Thread::interrupt));
        interrupting.start();

        notifyAllCallers();

        everyCallerHasItsAnswer();
        interrupting.join();
    }

    @Test
    void callersNotYetAsleepDoNotBreakTheChain() throws InterruptedException {
        callers(number -> number % 3 == 0);

        notifyAllCallers();

        everyCallerHasItsAnswer();
    }

    @Test
    void cancelledAnswerDoesNotBreakTheChain() throws InterruptedException {
        callers(number -> true);
        PendingRequest<Integer, Integer> cancelled = requests.get(0);
        cancelled.answer().cancel(true);
        threads.get(0).join();

        notifyAllCallers();

        requests.remove(cancelled);
        everyCallerHasItsAnswer();
    }

    @Test
    void callerThatDoesNotWaitIsNotifiedBySender() throws InterruptedException {
        callers(number -> true);
        PendingRequest<Integer, Integer> last = PendingRequest.of(CALLERS);
        requests.add(last);
        CompletableFuture<Thread> sender = last.answer().thenApply(answer -> Thread.currentThread());

        notifyAllCallers();

        assertThat(sender).isCompletedWithValue(Thread.currentThread());
        everyCallerHasItsAnswer();
    }

    @Test
    void forkJoinWorkerMayNotRunOnceWoken() throws Exception {
        assertThat(PendingRequest.runsOnceWoken(Thread.currentThread())).isTrue();
        CompletableFuture<Boolean> ofWorker = new CompletableFuture<>();
        ForkJoinPool.commonPool()
                .execute(() -> ofWorker.complete(PendingRequest.runsOnceWoken(Thread.currentThread())));
        assertThat(ofWorker.get()).isFalse();
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreadMayNotRunOnceWoken() throws Exception {
        CompletableFuture<Boolean> ofVirtual = new CompletableFuture<>();
        Runnable asking = () -> ofVirtual.complete(PendingRequest.runsOnceWoken(Thread.currentThread()));

        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, asking);

        assertThat(ofVirtual.get()).isFalse();
    }

    /** @param waits which of them wait; the others are still on their way to */
    private void callers(IntPredicate waits) throws InterruptedException {
        for (int i = 0; i < CALLERS; i++) {
            PendingRequest<Integer, Integer> request = PendingRequest.waited(i);
            requests.add(request);
            if (waits.test(i)) {
                CountDownLatch begun = new CountDownLatch(1);
                Thread thread = new Thread(
                        null,
                        () -> {
                            begun.countDown();
                            request.await();
                        },
                        "caller-" + i,
                        128 * 1024);
                thread.start();
                begun.await();
                threads.add(thread);
            }
        }
        Awaitility.await().until(() -> threads.stream().allMatch(it -> it.getState() == Thread.State.WAITING));
    }

    private void notifyAllCallers() {
        requests.forEach(request -> request.decide(Decision.answer(request.request())));
        PendingRequest.notifyAll(requests);
    }

    private void everyCallerHasItsAnswer() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(requests)
                .allSatisfy(request -> assertThat(request.answer())
                        .succeedsWithin(Duration.ofSeconds(60))
                        .isEqualTo(request.request()));
    }
}
