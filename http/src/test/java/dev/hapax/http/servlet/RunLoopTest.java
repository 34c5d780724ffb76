package dev.hapax.http.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class RunLoopTest {
    private final RunLoop loop = new RunLoop();
    private final List<String> done = new ArrayList<>();

    @Test
    void tasksRunInOrderOnTheWaitingThread() {
        Thread here = Thread.currentThread();
        loop.execute(() -> {
            done.add("first");
            loop.execute(() -> done.add(Thread.currentThread() == here ? "second" : "elsewhere"));
        });

        loop.runUntil(() -> done.size() == 2);

        assertThat(done).containsExactly("first", "second");
    }

    @Test
    void whatWasHandedOverRunsEvenWhenTheThreadLeaves() {
        loop.execute(() -> done.add("first"));
        loop.execute(() -> done.add("second"));

        loop.runUntil(() -> done.size() == 1);

        assertThat(done).containsExactly("first", "second");
        assertThat(loop.interrupted()).isFalse();
    }

    @Test
    void nothingIsTakenAfterTheThreadHasLeft() {
        loop.runUntil(() -> true);

        assertThatThrownBy(() -> loop.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void anInterruptedThreadLeavesAndTellsItsTasks() {
        loop.execute(() -> Thread.currentThread().interrupt());
        loop.execute(() -> done.add("interrupted: " + loop.interrupted()));

        loop.runUntil(() -> false);

        assertThat(done).containsExactly("interrupted: true");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void aWakenedThreadLooksWhetherItIsDone() {
        Thread waker = new Thread(() -> {
            synchronized (done) {
                done.add("woken");
            }
            loop.wake();
        });
        waker.start();

        loop.runUntil(() -> {
            synchronized (done) {
                return !done.isEmpty();
            }
        });

        assertThat(done).containsExactly("woken");
    }
}
