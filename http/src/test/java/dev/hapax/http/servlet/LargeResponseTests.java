package dev.hapax.http.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.testkit.http.Probe;
import dev.hapax.testkit.http.Probe.Request;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient.Version;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

/** Responses that are too large to keep, or have no end. */
abstract class LargeResponseTests extends FilterTesting {
    private static final int PIECE = 16 << 10;
    private static final int PIECES = (64 << 20) / PIECE;

    @Test
    void aLargeResponseIsSentAsItComesAndNeverHeldWhole() throws Exception {
        CountDownLatch clientHasRead = new CountDownLatch(1);
        Request export = request((request, response) -> {
            response.setContentType("application/octet-stream");
            response.addCookie(new Cookie("a", "b"));
            for (int i = 0; i < PIECES; i++) {
                if (i == PIECES / 2) {
                    clientHasRead.await();
                }
                response.getOutputStream().write(piece(i));
                assertThat(((CapturedBody) response.getOutputStream()).bytes().length)
                        .isLessThanOrEqualTo(Lab.MAX_BODY);
            }
        });

        HttpResponse<InputStream> answer =
                Streaming.open(lab(), version, export).get(60, SECONDS);

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Hapax-Operation-Id")).isPresent();
        assertThat(answer.headers().firstValue("Set-Cookie")).isPresent();
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/octet-stream");
        CRC32 sent = new CRC32();
        CRC32 read = new CRC32();
        try (InputStream in = answer.body()) {
            for (int i = 0; i < PIECES; i++) {
                sent.update(piece(i));
                read.update(in.readNBytes(PIECE));
                if (i == PIECES / 4) {
                    clientHasRead.countDown();
                }
            }
            assertThat(in.read()).isEqualTo(-1);
        }
        assertThat(read.getValue()).isEqualTo(sent.getValue());
        export.send().assertProblem(409, "response-not-stored", false);
        assertThat(runs(export)).isEqualTo(1);
    }

    private static byte[] piece(int number) {
        byte[] piece = new byte[PIECE];
        new java.util.Random(number).nextBytes(piece);
        return piece;
    }

    @Test
    void aLargeResponseOfKnownLengthSaysHowLongItIs() throws Exception {
        int length = Lab.MAX_BODY + 1;
        Request export = request((request, response) -> {
            response.setContentLength(length);
            response.getOutputStream().write(new byte[length]);
        });

        HttpResponse<InputStream> answer =
                Streaming.open(lab(), version, export).get(60, SECONDS);

        assertThat(answer.headers().firstValue("Content-Length")).contains(Integer.toString(length));
        try (InputStream in = answer.body()) {
            assertThat(in.readAllBytes()).hasSize(length);
        }
        export.send().assertProblem(409, "response-not-stored", false);
    }

    @Test
    void aLargeResponseMayBeWrittenByAWriter() {
        String line = "größer ".repeat(100);
        Request export = request((request, response) -> {
            response.setContentType("text/plain;charset=utf-8");
            for (int i = 0; i < 3000; i++) {
                response.getWriter().print(line);
            }
        });

        assertThat(export.send().assertRan(200).text()).isEqualTo(line.repeat(3000));
        export.send().assertProblem(409, "response-not-stored", false);
    }

    @Test
    void aLargeResponseThatIsNotStoredAnywayIsSentWhole() {
        Request refusal = request((request, response) -> {
            response.setStatus(409);
            response.getOutputStream().write(new byte[2 * Lab.MAX_BODY]);
        });

        assertThat(refusal.send().assertRan(409).body()).hasSize(2 * Lab.MAX_BODY);
        assertThat(refusal.send().assertRan(409).body()).hasSize(2 * Lab.MAX_BODY);
        assertThat(runs(refusal)).isEqualTo(2);
    }

    @Test
    void aServletThatFailsInTheMiddleOfALargeResponseCutsItOff() throws Exception {
        Request export = request((request, response) -> {
            response.getOutputStream().write(new byte[2 * Lab.MAX_BODY]);
            response.flushBuffer();
            throw new IOException("the disk is broken");
        });

        // Tomcat ends a stream of HTTP/2 as if nothing had happened, with and without a filter
        InputStream cutOff =
                Streaming.open(lab(), Version.HTTP_1_1, export).get(60, SECONDS).body();
        assertThatThrownBy(cutOff::readAllBytes).isInstanceOf(IOException.class);

        export.send().assertProblem(409, "response-not-stored", false);
        assertThat(runs(export)).isEqualTo(1);
    }

    @Test
    void whatNobodyReadsAnyMoreIsNotHeldEither() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<Integer> held = new CompletableFuture<>();
        AtomicInteger lost = new AtomicInteger();
        Request export = request((request, response) -> {
            begun.countDown();
            goOn.await();
            CapturedBody body = (CapturedBody) response.getOutputStream();
            for (int i = 0; i < PIECES; i++) {
                try {
                    body.write(piece(0));
                } catch (IOException gone) {
                    lost.incrementAndGet(); // and go on, as careless servlets do
                }
            }
            held.complete(body.bytes().length);
        });
        var impatient = export.through(Probe.fresh(lab(), version)).begin();
        assertThat(begun.await(60, SECONDS)).isTrue();
        impatient.cancel(true);
        export.send();
        goOn.countDown();

        assertThat(held.get(60, SECONDS)).isLessThanOrEqualTo(Lab.MAX_BODY);
        await().until(export::send, answer -> !answer.member("type").endsWith("in-progress"))
                .assertProblem(409, "response-not-stored", false);
    }

    @Test
    void aStreamOfEventsIsSentFromItsFirstFlush() throws Exception {
        CountDownLatch firstEventRead = new CountDownLatch(1);
        Request events = request((request, response) -> {
            response.setContentType("text/event-stream");
            event(response, "one");
            firstEventRead.await();
            event(response, "two");
        });

        HttpResponse<InputStream> answer =
                Streaming.open(lab(), version, events).get(60, SECONDS);

        try (InputStream in = answer.body()) {
            assertThat(new String(in.readNBytes(11), UTF_8)).isEqualTo("data: one\n\n");
            firstEventRead.countDown();
            assertThat(new String(in.readAllBytes(), UTF_8)).isEqualTo("data: two\n\n");
        }
        events.send().assertProblem(409, "response-not-stored", false);
        assertThat(runs(events)).isEqualTo(1);
    }

    private static void event(HttpServletResponse response, String data) throws IOException {
        response.getWriter().print("data: " + data + "\n\n");
        response.flushBuffer();
    }

    @Test
    void aStreamOfEventsThatNobodyFlushesIsKept() {
        Request events = request((request, response) -> {
            response.setContentType("text/event-stream");
            response.getOutputStream().print("data: one\n\n");
        });

        assertThat(sendTwice(events).text()).isEqualTo("data: one\n\n");
    }
}
