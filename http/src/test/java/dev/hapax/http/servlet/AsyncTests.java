package dev.hapax.http.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.testkit.http.Answer;
import dev.hapax.testkit.http.Probe;
import dev.hapax.testkit.http.Probe.Request;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Servlets that answer later, and from another thread. */
abstract class AsyncTests extends FilterTesting {

    @Test
    void aResponseIsStoredWhenTheContextIsCompleted() {
        Request charge = request((request, response) -> {
            AsyncContext async = request.startAsync();
            assertThat(request.isAsyncStarted()).isTrue();
            assertThat(request.getAsyncContext()).isSameAs(async);
            assertThat(async.hasOriginalRequestAndResponse()).isTrue();
            elsewhere(() -> {
                HttpServletResponse later = (HttpServletResponse) async.getResponse();
                later.setStatus(201);
                later.getWriter().print("later");
                async.complete();
            });
        });

        Answer answer = sendTwice(charge);

        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.text()).isEqualTo("later");
        assertThat(runs(charge)).isEqualTo(1);
    }

    private interface Task {
        void run() throws Exception;
    }

    private static void elsewhere(Task task) {
        CompletableFuture.runAsync(() -> {
            try {
                task.run();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        });
    }

    @Test
    void aContextMayBeCompletedAtOnce() {
        Request charge = request((request, response) -> {
            AsyncContext async = request.startAsync(request, response);
            response.getOutputStream().print("at once");
            async.complete();
        });

        assertThat(sendTwice(charge).text()).isEqualTo("at once");
    }

    @Test
    void whatIsWrittenAfterTheContextIsCompletedIsIgnored() throws Exception {
        CountDownLatch completed = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        Request charge = request((request, response) -> {
            AsyncContext async = request.startAsync();
            response.getOutputStream().print("all");
            async.complete();
            elsewhere(() -> {
                completed.await();
                response.getOutputStream().print("more");
                response.setStatus(500);
                written.countDown();
            });
        });

        Answer first = charge.send();
        completed.countDown();
        assertThat(written.await(60, SECONDS)).isTrue();

        assertThat(charge.send().assertReplays(first).text()).isEqualTo("all");
    }

    @Test
    void aDispatchedResponseIsStored() {
        Request charge = request((request, response) -> {
            assertThat(request.getAttribute(HapaxFilter.OPERATION)).isNotNull();
            if (request.getDispatcherType() == DispatcherType.REQUEST) {
                response.getWriter().print("first ");
                AsyncContext async = request.startAsync();
                elsewhere(async::dispatch);
            } else {
                assertThat(new String(request.getInputStream().readAllBytes(), UTF_8))
                        .isEqualTo("{}");
                response.getWriter().print("second");
            }
        });

        assertThat(sendTwice(charge.json("{}")).text()).isEqualTo("first second");
        assertThat(runs(charge)).isEqualTo(2); // passes, both of the first request
    }

    @Test
    void aContextMayBeDispatchedElsewhereAndStartedAgain() {
        AtomicInteger restarts = new AtomicInteger();
        String elsewhere = lab().on("/inner/", (request, response) -> {
            if (restarts.incrementAndGet() < 3) {
                request.startAsync().dispatch();
            } else {
                AsyncContext async = request.startAsync();
                async.start(() -> {
                    print(async, "done");
                    async.complete();
                });
            }
        });
        Request charge = request((request, response) -> request.startAsync().dispatch(elsewhere));

        Answer answer = sendTwice(charge);

        assertThat(answer.text()).isEqualTo("done");
        assertThat(restarts).hasValue(3);
    }

    private static void print(AsyncContext async, String text) {
        try {
            async.getResponse().getOutputStream().print(text);
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Test
    void anExceptionInADispatchIsA500AndStored() {
        Request charge = request((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                throw new IllegalStateException("secret");
            }
            request.startAsync().dispatch();
        });

        Answer first = charge.send().assertProblem(500, "operation-failed", false);
        charge.send().assertReplays(first);
    }

    @Test
    void anExceptionAfterTheStartIsA500AndStored() {
        Request charge = request((request, response) -> {
            request.startAsync();
            throw new IllegalStateException("secret");
        });

        Answer first = charge.send().assertProblem(500, "operation-failed", false);
        charge.send().assertReplays(first);
        assertThat(runs(charge)).isEqualTo(1);
    }

    @Test
    void anExceptionOfAStartedTaskIsA500AndStored() {
        List<String> told = new CopyOnWriteArrayList<>();
        Request charge = request((request, response) -> {
            AsyncContext async = request.startAsync();
            async.addListener(new Noting(told));
            async.start(() -> {
                throw new IllegalStateException("secret");
            });
        });

        Answer first = charge.send().assertProblem(500, "operation-failed", false);
        charge.send().assertReplays(first);
        assertThat(told).startsWith("error");
    }

    @Test
    void aTimeoutLeavesTheOperationInDoubt() {
        Request charge = request((request, response) -> request.startAsync().setTimeout(50));

        charge.send().assertProblem(409, "in-doubt", false).assertKnown();
        charge.send().assertProblem(409, "in-doubt", false).assertKnown();

        assertThat(runs(charge)).isEqualTo(1);
    }

    @Test
    void aListenerMayAnswerATimeout() {
        List<String> told = new CopyOnWriteArrayList<>();
        Request charge = request((request, response) -> {
            AsyncContext async = request.startAsync();
            async.setTimeout(50);
            async.addListener(new Noting(told) {
                @Override
                public void onTimeout(AsyncEvent event) throws IOException {
                    super.onTimeout(event);
                    HttpServletResponse late =
                            (HttpServletResponse) event.getAsyncContext().getResponse();
                    late.sendError(504, "too slow");
                    event.getAsyncContext().complete();
                }
            });
        });

        Answer answer = sendTwice(charge);

        assertThat(answer.status()).isEqualTo(504);
        assertThat(answer.text()).contains("too slow");
        await().untilAsserted(() -> assertThat(told).containsExactly("timeout", "complete"));
    }

    @Test
    void aListenerMayDispatchAfterATimeout() {
        Request charge = request((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                response.getOutputStream().print("dispatched");
                return;
            }
            AsyncContext async = request.startAsync();
            async.setTimeout(50);
            async.addListener(
                    new Noting(new CopyOnWriteArrayList<>()) {
                        @Override
                        public void onTimeout(AsyncEvent event) {
                            assertThat(event.getSuppliedRequest()).isSameAs(request);
                            event.getAsyncContext().dispatch();
                        }
                    },
                    request,
                    response);
        });

        assertThat(sendTwice(charge).text()).isEqualTo("dispatched");
    }

    /** Writes down what it hears. */
    private static class Noting implements AsyncListener {
        private final List<String> told;

        Noting(List<String> told) {
            this.told = told;
        }

        @Override
        public void onComplete(AsyncEvent event) {
            told.add("complete");
        }

        @Override
        public void onTimeout(AsyncEvent event) throws IOException {
            told.add("timeout");
        }

        @Override
        public void onError(AsyncEvent event) {
            told.add("error");
        }

        @Override
        public void onStartAsync(AsyncEvent event) {
            told.add("start");
        }
    }

    @Test
    void aClientThatGoesAwayDoesNotStopTheWork() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Request charge = request((request, response) -> {
            AsyncContext async = request.startAsync();
            elsewhere(() -> {
                begun.countDown();
                goOn.await();
                print(async, "done");
                async.complete();
            });
        });
        var impatient = charge.through(Probe.fresh(lab(), version)).begin();
        assertThat(begun.await(60, SECONDS)).isTrue();
        impatient.cancel(true);
        assertThat(charge.send().status()).isEqualTo(409);

        goOn.countDown();

        assertThat(charge.sendUntilReplayed().text()).isEqualTo("done");
        assertThat(runs(charge)).isEqualTo(1);
    }

    @Test
    void aLargeResponseIsSentAsItComes() {
        byte[] piece = new byte[Lab.MAX_BODY / 2];
        Request export = request((request, response) -> {
            AsyncContext async = request.startAsync();
            elsewhere(() -> {
                for (int i = 0; i < 8; i++) {
                    async.getResponse().getOutputStream().write(piece);
                }
                async.complete();
            });
        });

        assertThat(export.send().assertRan(200).body()).hasSize(8 * piece.length);
        export.send().assertProblem(409, "response-not-stored", false);
    }

    @Test
    void aResponseOfTheServletsOwnIsStoredToo() {
        Request charge = request((request, response) -> {
            HttpServletResponse own = new HttpServletResponseWrapper(response);
            AsyncContext async = request.startAsync(request, own);
            assertThat(async.getResponse()).isSameAs(own);
            assertThat(async.hasOriginalRequestAndResponse()).isFalse();
            async.start(() -> {
                print(async, "wrapped");
                async.complete();
            });
        });

        assertThat(sendTwice(charge).text()).isEqualTo("wrapped");
    }

    @Test
    void listenersReadAndWriteWithoutBlocking() {
        Request echo = request((request, response) -> {
            AsyncContext async = request.startAsync();
            request.getInputStream().setReadListener(new Echo(async, request, response));
        });

        assertThat(sendTwice(echo.json("{\"a\": 1}")).text()).isEqualTo("{\"a\": 1}");
        Request bare = request((request, response) -> {
            AsyncContext async = request.startAsync();
            request.getInputStream().setReadListener(new Echo(async, request, response));
        });
        assertThat(sendTwice(bare.body("text/plain", new byte[0])).text()).isEmpty();
    }

    /** Reads all, then writes all. */
    private static final class Echo implements ReadListener, WriteListener {
        private final AsyncContext async;
        private final ServletInputStream in;
        private final ServletOutputStream out;
        private final ByteArrayOutputStream read = new ByteArrayOutputStream();

        Echo(AsyncContext async, HttpServletRequest request, HttpServletResponse response) throws IOException {
            this.async = async;
            this.in = request.getInputStream();
            this.out = response.getOutputStream();
        }

        @Override
        public void onDataAvailable() throws IOException {
            while (in.isReady() && !in.isFinished()) {
                read.write(in.read());
            }
        }

        @Override
        public void onAllDataRead() {
            out.setWriteListener(this);
        }

        @Override
        public void onWritePossible() throws IOException {
            if (out.isReady()) {
                out.write(read.toByteArray());
            }
            async.complete();
        }

        @Override
        public void onError(Throwable thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    @Test
    void aListenerThatFailsIsTold() {
        Request charge = request((request, response) -> {
            AsyncContext async = request.startAsync();
            response.getOutputStream().setWriteListener(new WriteListener() {
                @Override
                public void onWritePossible() throws IOException {
                    throw new IOException("broken");
                }

                @Override
                public void onError(Throwable thrown) {
                    print(async, thrown.getMessage());
                    async.complete();
                }
            });
        });

        assertThat(sendTwice(charge).text()).isEqualTo("broken");
    }
}
