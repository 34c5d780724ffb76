package dev.hapax.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.testkit.http.HostileRequests.Hostile;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/**
 * What an adapter does with requests that no client library sends, over raw sockets: it answers or hangs up, it never
 * fails, and nothing reaches a protected handler unprotected. See {@link HttpContract} for how to use it.
 */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
public abstract class HostileContract {
    private static final int CLIENTS = 8;

    /** What is under test: the same one for all tests. */
    protected abstract HttpSubject subject();

    /** How many hostile requests are sent. */
    protected int requests() {
        return 1_000;
    }

    /** Where they come from; the one of a failed run repeats it. */
    protected long seed() {
        return new Random().nextLong();
    }

    @Test
    void hostileRequestsAreAnsweredOrCutOffAndNeverSlipThrough(TestReporter reporter) throws Exception {
        long seed = seed();
        reporter.publishEntry("seed", Long.toString(seed));
        System.out.println("Hostile requests: " + requests() + " of seed " + seed);
        int before = subject().application().executions().size();
        URI base = subject().base(Version.HTTP_1_1);
        HostileRequests generator = new HostileRequests(seed, base.getAuthority());
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try {
            List<Future<String>> complaints = new ArrayList<>();
            for (int i = 0; i < requests(); i++) {
                Hostile hostile = generator.next();
                complaints.add(clients.submit(() -> complaintAbout(base, hostile)));
            }
            List<String> all = new ArrayList<>();
            for (Future<String> complaint : complaints) {
                all.add(complaint.get());
            }
            assertThat(all).as("seed %d", seed).allMatch(String::isEmpty);
        } finally {
            clients.shutdownNow();
        }
        List<Execution> executions = subject().application().executions();
        assertThat(executions.subList(before, executions.size()))
                .as("seed %d", seed)
                .noneMatch(Execution::slippedThrough)
                .anyMatch(Execution::guarded);
    }

    /** What is wrong with the answer; empty when nothing is. */
    private static String complaintAbout(URI base, Hostile hostile) throws IOException {
        try (RawConnection connection = new RawConnection(base)) {
            connection.send(hostile.bytes());
            if (!hostile.whole()) {
                connection.end();
            }
            String read = connection.readToTheEnd();
            List<Integer> statuses = RawConnection.statuses(read);
            if (!read.isEmpty() && statuses.isEmpty()) {
                return "not HTTP: " + read + "\nto " + hostile;
            }
            boolean failed = statuses.stream().anyMatch(status -> status >= 500 && status != 501);
            return failed ? statuses + "\n" + read + "\nto " + hostile : "";
        } catch (SocketTimeoutException hung) {
            return "no answer, and not closed\nto " + hostile;
        }
    }

    @Test
    void aClientThatDiesDoesNotStopTheWork() throws Exception {
        Probe probe = Probe.shared(subject(), Version.HTTP_1_1);
        Probe.Request charge = probe.post("/contract/charges");
        try (Hold hold = charge.hold()) {
            sendAndDie(charge, hold);
            hold.release();
        }

        Answer replay = await().until(charge::send, answer -> answer.status() != 409);

        assertThat(replay.status()).isEqualTo(201);
        assertThat(replay.replayed()).isTrue();
        assertThat(charge.runs()).isEqualTo(1);
    }

    private void sendAndDie(Probe.Request charge, Hold hold) throws IOException {
        StringBuilder text = new StringBuilder("POST " + charge.path() + " HTTP/1.1\r\nHost: localhost\r\n");
        charge.headers().forEach(header -> text.append(header.getKey() + ": " + header.getValue() + "\r\n"));
        text.append("Content-Length: " + charge.body().length + "\r\n\r\n");
        try (RawConnection connection = new RawConnection(subject().base(Version.HTTP_1_1))) {
            connection.send(text.toString().getBytes(StandardCharsets.ISO_8859_1));
            connection.send(charge.body());
            hold.awaitEntered();
            connection.reset();
        }
    }

    @Test
    void aRequestThatNeverEndsRunsNothing() throws Exception {
        String tag = UUID.randomUUID().toString();
        try (RawConnection connection = new RawConnection(subject().base(Version.HTTP_1_1))) {
            connection.send(("POST /contract/charges HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: \"" + tag
                            + "\"\r\nApp-Tag: " + tag + "\r\nContent-Length: 100\r\n\r\nonly this")
                    .getBytes(StandardCharsets.ISO_8859_1));
            connection.reset();
        }
        Probe probe = Probe.shared(subject(), Version.HTTP_1_1);

        probe.keyless("/contract/charges").send().assertProblem(400, "key-missing", false);

        assertThat(subject().application().executions(tag)).isEmpty();
    }
}
