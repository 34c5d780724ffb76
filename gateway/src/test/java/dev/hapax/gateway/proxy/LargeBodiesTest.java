package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Bodies of any size pass, and never more than a little of them is in the gateway. */
class LargeBodiesTest {
    private static final long GIBIBYTE = 1L << 30;
    private static final long LITTLE = 32L << 20; // with all buffers of the kernel on the way

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (java.security.NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Writes a gibibyte of which no two pieces are the same, and tells its digest. */
    private static String writeGibibyte(OutputStream out) throws IOException {
        DigestOutputStream digested = new DigestOutputStream(out, sha256());
        byte[] piece = new byte[1 << 18];
        new Random(7).nextBytes(piece);
        for (long written = 0; written < GIBIBYTE; written += piece.length) {
            piece[0] = (byte) (written >> 18);
            piece[1] = (byte) (written >> 26);
            digested.write(piece);
        }
        out.flush();
        return hex(digested.getMessageDigest());
    }

    private static String digestOf(InputStream in, long length) throws IOException {
        MessageDigest digest = sha256();
        byte[] buffer = new byte[1 << 16];
        for (long left = length; left > 0; ) {
            int n = in.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (n < 0) {
                throw new IOException("closed with " + left + " bytes to go");
            }
            digest.update(buffer, 0, n);
            left -= n;
        }
        return hex(digest);
    }

    private static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    @Test
    void gibibytePassesToTheClient() throws Exception {
        CompletableFuture<String> written = new CompletableFuture<>();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + GIBIBYTE + "\r\n\r\n");
                    written.complete(writeGibibyte(connection.out()));
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            Message head = client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n").readHead();
            assertThat(head.header("Content-Length")).isEqualTo(Long.toString(GIBIBYTE));

            assertThat(digestOf(client.in(), GIBIBYTE)).isEqualTo(written.join());
        }
    }

    @Test
    void gibibytePassesToTheUpstream() throws Exception {
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message.readHead(connection.in());
                    connection.send(response("200 OK", digestOf(connection.in(), GIBIBYTE)));
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("PUT /large HTTP/1.1\r\nHost: h\r\nContent-Length: " + GIBIBYTE + "\r\n\r\n");
            String written = writeGibibyte(client.out());

            assertThat(client.read().text()).isEqualTo(written);
        }
    }

    /** Writes as much as it can; the number of bytes that went out stands still when nobody takes them. */
    private static void writeEndlessly(OutputStream out, AtomicLong written) throws IOException {
        byte[] piece = new byte[1 << 16];
        Arrays.fill(piece, (byte) 'x');
        while (true) {
            out.write(piece);
            written.addAndGet(piece.length);
        }
    }

    private static long standsStill(AtomicLong written) {
        AtomicLong last = new AtomicLong(-1);
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(300))
                .until(() -> {
                    long now = written.get();
                    return now > 0 && last.getAndSet(now) == now;
                });
        return written.get();
    }

    @Test
    void upstreamIsHeldUpByAClientThatTakesNothing() throws Exception {
        AtomicLong written = new AtomicLong();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\n\r\n");
                    writeEndlessly(connection.out(), written);
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");

            assertThat(standsStill(written)).isLessThan(LITTLE);
        }
    }

    @Test
    void clientIsHeldUpByAnUpstreamThatTakesNothing() throws Exception {
        AtomicLong written = new AtomicLong();
        CountDownLatch over = new CountDownLatch(1);
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    Message.readHead(connection.in());
                    over.await();
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.send("PUT /large HTTP/1.1\r\nHost: h\r\nContent-Length: " + GIBIBYTE + "\r\n\r\n");
            CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
                try {
                    writeEndlessly(client.out(), written);
                } catch (IOException closed) {
                    return;
                }
            });

            assertThat(standsStill(written)).isLessThan(LITTLE);
            client.close();
            writing.join();
        } finally {
            over.countDown();
        }
    }

    @Test
    void upstreamIsHeldUpByAClientThatTakesNothingOfALargeProtectedResponse() throws Exception {
        AtomicLong written = new AtomicLong();
        try (RawUpstream upstream = RawUpstream.start(connection -> {
                    connection.read();
                    connection.send("HTTP/1.1 200 OK\r\n\r\n");
                    writeEndlessly(connection.out(), written);
                });
                TestGateway gateway = TestGateway.before(upstream.uri()).start();
                RawClient client = new RawClient(gateway)) {
            client.charge("k");

            assertThat(standsStill(written)).isLessThan(LITTLE);
            assertThat(client.readHead().status()).isEqualTo(200);
        }
    }
}
