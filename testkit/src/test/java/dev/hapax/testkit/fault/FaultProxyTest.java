package dev.hapax.testkit.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FaultProxyTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    private TestServer server;
    private FaultProxy proxy;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.executing();
        // Longer than any test waits: a lost answer that only patience ends is a failure.
        proxy = FaultProxy.to("127.0.0.1", server.port(), Duration.ofMinutes(5));
    }

    @AfterEach
    void stop() throws Exception {
        proxy.close();
        server.close();
    }

    @Test
    void passesBytesThroughUntouched() throws Exception {
        try (TestServer echo = TestServer.echoing();
                FaultProxy plain = FaultProxy.to("127.0.0.1", echo.port());
                TestClient client = new TestClient(plain)) {
            String large = "x".repeat(300_000);

            assertThat(client.ask(large)).isEqualTo(large);
        }
    }

    @Test
    void passesAHalfCloseOn() throws Exception {
        try (TestClient client = new TestClient(proxy)) {
            client.send("last");
            client.endInput();

            assertThat(client.read()).isEqualTo("done last");
            assertThatThrownBy(client::read).hasMessage("hung up");
        }
    }

    @Test
    void delaysEachWay() throws Exception {
        try (TestClient client = new TestClient(proxy)) {
            proxy.delay(Duration.ofMillis(60), Duration.ofMillis(90));
            long start = System.nanoTime();
            client.ask("slow");

            assertThat(System.nanoTime() - start)
                    .isGreaterThanOrEqualTo(Duration.ofMillis(150).toNanos());
        }
    }

    @Test
    void stallHoldsBytesAndKeepsTheConnection() throws Exception {
        try (TestClient client = new TestClient(proxy)) {
            client.ask("before");
            proxy.stall();
            client.send("held");

            await().during(Duration.ofMillis(100)).until(() -> server.executed().equals(List.of("before")));
            proxy.resume();
            assertThat(client.read()).isEqualTo("done held");
        }
    }

    @Test
    void stallHoldsAnAnswerToo() throws Exception {
        CountDownLatch execute = new CountDownLatch(1);
        server.holdUntil(execute);
        try (TestClient client = new TestClient(proxy)) {
            client.send("a");
            await().atMost(SOON).until(() -> server.arrived().contains("a"));
            proxy.stall();
            execute.countDown();

            await().atMost(SOON).until(() -> server.executed().contains("a"));
            await().during(Duration.ofMillis(100)).until(() -> !client.hasAnswer());
            proxy.resume();
            assertThat(client.read()).isEqualTo("done a");
        }
    }

    @Test
    void cutBreaksCurrentConnectionsOnly() throws Exception {
        try (TestClient first = new TestClient(proxy)) {
            first.ask("a");
            proxy.cut();

            assertThatThrownBy(() -> first.ask("b")).isInstanceOf(IOException.class);
        }
        try (TestClient second = new TestClient(proxy)) {
            assertThat(second.ask("c")).isEqualTo("done c");
        }
    }

    @Test
    void cutFreesAStalledConnection() throws Exception {
        try (TestClient client = new TestClient(proxy)) {
            client.ask("a");
            proxy.stall();
            client.send("held");
            proxy.cut();

            assertThatThrownBy(client::read).isInstanceOf(IOException.class);
            proxy.resume();
        }
        assertThat(server.executed()).containsExactly("a");
    }

    @Test
    void refuseBreaksOldAndNewConnectionsUntilAccept() throws Exception {
        try (TestClient old = new TestClient(proxy)) {
            old.ask("a");
            proxy.refuse();

            assertThatThrownBy(() -> old.ask("b")).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> askAnew("c")).isInstanceOf(IOException.class);
        }
        proxy.accept();
        assertThat(askAnew("d")).isEqualTo("done d");
        assertThat(server.executed()).containsExactly("a", "d");
    }

    @Test
    void lostAnswerLeavesAnExecutedRequestAndABrokenClient() throws Exception {
        try (TestClient client = new TestClient(proxy)) {
            client.ask("a");
            proxy.loseNextAnswer();

            assertThatThrownBy(() -> client.ask("b")).isInstanceOf(IOException.class);
            // No waiting: when the client learns of the cut, the server has long executed the request.
            assertThat(server.executed()).containsExactly("a", "b");
        }
        assertThat(proxy.awaitFault(SOON)).isTrue();
        assertThat(proxy.fired()).containsExactly(new FiredFault(FiredFault.Kind.ANSWER_LOST, "done b\n".length()));
    }

    @Test
    void lostAnswerWaitsForASlowServer() throws Exception {
        CountDownLatch execute = new CountDownLatch(1);
        server.holdUntil(execute);
        try (TestClient client = new TestClient(proxy)) {
            proxy.loseNextAnswer();
            client.send("slow");

            assertThat(proxy.awaitFault(Duration.ofMillis(100))).isFalse();
            execute.countDown();
            assertThat(proxy.awaitFault(SOON)).isTrue();
            assertThat(server.executed()).containsExactly("slow");
            assertThatThrownBy(client::read).isInstanceOf(IOException.class);
        }
    }

    @Test
    void anEarlyFirstByteOfTheAnswerDoesNotCutTheWorkShort() throws Exception {
        CountDownLatch execute = new CountDownLatch(1);
        try (TestServer early = TestServer.answeringEarly();
                FaultProxy inFront = FaultProxy.to("127.0.0.1", early.port());
                TestClient client = new TestClient(inFront)) {
            early.holdUntil(execute);
            inFront.loseNextAnswer();
            client.send("a\nb\nc");

            assertThat(inFront.awaitFault(Duration.ofMillis(100))).isFalse();
            execute.countDown();
            assertThat(inFront.awaitFault(SOON)).isTrue();
            assertThat(early.executed()).containsExactly("a", "b", "c");
        }
    }

    @Test
    void lostAnswerToALongRequestWaitsForAllOfIt() throws Exception {
        String large = "x".repeat(1_000_000);
        try (TestClient client = new TestClient(proxy)) {
            proxy.loseNextAnswer();

            assertThatThrownBy(() -> client.ask(large)).isInstanceOf(IOException.class);
            assertThat(server.executed()).containsExactly(large);
        }
    }

    @Test
    void patienceWithASilentServerEnds() throws Exception {
        server.holdUntil(new CountDownLatch(1));
        try (FaultProxy hasty = FaultProxy.to("127.0.0.1", server.port(), Duration.ofMillis(50));
                TestClient client = new TestClient(hasty)) {
            hasty.loseNextAnswer();

            assertThatThrownBy(() -> client.ask("a")).isInstanceOf(IOException.class);
            assertThat(hasty.awaitFault(SOON)).isTrue();
            assertThat(hasty.fired()).containsExactly(new FiredFault(FiredFault.Kind.ANSWER_LOST, 0));
        }
    }

    @Test
    void droppedRequestNeverReachesTheServer() throws Exception {
        try (TestClient client = new TestClient(proxy)) {
            client.ask("a");
            proxy.dropNextRequest();

            assertThatThrownBy(() -> client.ask("b")).isInstanceOf(IOException.class);
        }
        assertThat(proxy.awaitFault(SOON)).isTrue();
        askAnew("c");
        assertThat(server.executed()).containsExactly("a", "c");
        assertThat(proxy.fired()).containsExactly(new FiredFault(FiredFault.Kind.REQUEST_DROPPED, 0));
    }

    @Test
    void triggerChoosesTheWrite() throws Exception {
        try (TestClient client = new TestClient(proxy)) {
            proxy.loseNextAnswer(write -> text(write).startsWith("b"));

            assertThat(client.ask("a")).isEqualTo("done a");
            assertThatThrownBy(() -> client.ask("b")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void countingVisitsEveryCrashPoint() throws Exception {
        List<Integer> executedBeforeTheCrash = new ArrayList<>();
        int n = 0;
        for (proxy.loseAnswerAfter(n); ; proxy.loseAnswerAfter(++n)) {
            int before = server.executed().size();
            askThree();
            if (proxy.disarm()) {
                break;
            }
            assertThat(proxy.awaitFault(SOON)).isTrue();
            executedBeforeTheCrash.add(server.executed().size() - before);
        }

        assertThat(executedBeforeTheCrash).containsExactly(1, 2, 3);
        assertThat(proxy.faultsFired()).isEqualTo(3);
    }

    @Test
    void aFaultHitsOneConnectionOnly() throws Exception {
        try (TestClient one = new TestClient(proxy);
                TestClient other = new TestClient(proxy)) {
            other.ask("a");
            proxy.loseNextAnswer();

            assertThatThrownBy(() -> one.ask("b")).isInstanceOf(IOException.class);
            assertThat(other.ask("c")).isEqualTo("done c");
        }
    }

    @Test
    void armingTwiceIsRefused() {
        proxy.loseNextAnswer();

        assertThatThrownBy(() -> proxy.dropNextRequest()).isInstanceOf(IllegalStateException.class);
        assertThat(proxy.disarm()).isTrue();
        assertThat(proxy.disarm()).isFalse();
    }

    @Test
    void anUnreachableServerBreaksTheClientAndNotTheProxy() throws Exception {
        server.close();

        assertThatThrownBy(() -> askAnew("a")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> askAnew("b")).isInstanceOf(IOException.class);
    }

    @Test
    void closeEndsItsThreads() throws Exception {
        String threads = "fault-proxy-" + proxy.port();
        try (TestClient client = new TestClient(proxy)) {
            client.ask("a");
            proxy.stall();
            client.send("held");
            assertThat(liveThreads(threads)).isEqualTo(3);
            proxy.close();

            await().atMost(SOON).until(() -> liveThreads(threads) == 0);
        }
    }

    private String askAnew(String line) throws IOException {
        try (TestClient client = new TestClient(proxy)) {
            return client.ask(line);
        }
    }

    private void askThree() throws IOException {
        try (TestClient client = new TestClient(proxy)) {
            for (String line : List.of("1", "2", "3")) {
                client.ask(line);
            }
        } catch (IOException broken) {
            // The crash point of this round.
        }
    }

    private static long liveThreads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.US_ASCII.decode(bytes).toString();
    }
}
