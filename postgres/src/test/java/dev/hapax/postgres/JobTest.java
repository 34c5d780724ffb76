package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers tell each other. */
@Timeout(60)
class JobTest {
    private static final int CALLERS = 100;

    private final List<Job<Integer, Integer>> jobs = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = new ArrayList<>();

    @Test
    void everyoneIsTold() throws InterruptedException {
        callersWait();

        tell();

        everyoneHasTheirAnswer();
    }

    @Test
    void aCallerThatWasInterruptedDoesNotKeepTheOthersFromBeingTold() throws InterruptedException {
        callersWait();
        for (int i = 0; i < CALLERS; i += 3) {
            threads.get(i).interrupt();
            threads.get(i).join();
        }

        tell();

        everyoneHasTheirAnswer();
    }

    @Test
    void whoDoesNotWaitIsToldAtOnce() throws InterruptedException {
        callersWait();
        Job<Integer, Integer> last = Job.of(CALLERS);
        jobs.add(last);

        tell();

        assertThat(last.answer()).isCompletedWithValue(CALLERS);
        everyoneHasTheirAnswer();
    }

    @Test
    void onlyThreadsThatNobodyKeepsFromRunningWakeOthers() throws Exception {
        assertThat(Job.isPrompt(Thread.currentThread())).isTrue();
        CompletableFuture<Boolean> ofWorker = new CompletableFuture<>();
        ForkJoinPool.commonPool().execute(() -> ofWorker.complete(Job.isPrompt(Thread.currentThread())));
        assertThat(ofWorker.get()).isFalse();
    }

    @Test
    void virtualThreadsDoNotWakeOthers() throws Exception {
        assumeThat(Runtime.version().feature()).as("Java with virtual threads").isGreaterThanOrEqualTo(21);
        List<Boolean> prompt = Collections.synchronizedList(new ArrayList<>());
        Runnable asking = () -> prompt.add(Job.isPrompt(Thread.currentThread()));

        Thread virtual = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, asking);
        virtual.join();

        assertThat(prompt).containsExactly(false);
    }

    private void callersWait() throws InterruptedException {
        for (int i = 0; i < CALLERS; i++) {
            int number = i;
            CountDownLatch asked = new CountDownLatch(1);
            Thread thread = new Thread(() -> {
                Job<Integer, Integer> job = Job.ofThisThread(number);
                jobs.add(job);
                asked.countDown();
                job.await();
            });
            thread.start();
            asked.await();
            threads.add(thread);
        }
        Awaitility.await().until(() -> threads.stream().allMatch(it -> it.getState() == Thread.State.WAITING));
    }

    private void tell() {
        jobs.forEach(job -> job.answer(job.request()));
        Job.tell(jobs);
    }

    private void everyoneHasTheirAnswer() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(jobs).allSatisfy(job -> assertThat(job.answer().join()).isEqualTo(job.request()));
    }
}
