package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that are connected and say nothing cost little. */
class IdleConnectionsTest {
    private static final int CONNECTIONS = 5_000;
    private static final long MOST_BYTES_EACH = 24_000; // with the client's own side of the connection
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

    @Test
    void fiveThousandIdleConnectionsCostLittleMemory() throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        try (RawUpstream upstream = RawUpstream.answering(any -> response("200 OK", "fine"));
                TestGateway gateway = TestGateway.before(upstream.uri()).start()) {
            for (int i = 0; i < 200; i++) {
                clients.add(used(gateway));
            }
            long before = memory();
            for (int i = 0; i < CONNECTIONS; i++) {
                clients.add(used(gateway));
            }
            assertThat(gateway.metric("hapax_gateway_connections")).isEqualTo(clients.size());

            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(
                            () -> assertThat((memory() - before) / CONNECTIONS).isLessThan(MOST_BYTES_EACH));

            System.out.println("Bytes for each idle connection: " + (memory() - before) / CONNECTIONS);
            for (int i = 0; i < clients.size(); i += 100) {
                exchange(clients.get(i));
            }
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }

    private static SocketChannel used(TestGateway gateway) throws IOException {
        SocketChannel client =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
        exchange(client);
        return client;
    }

    private static void exchange(SocketChannel client) throws IOException {
        client.write(ByteBuffer.wrap(REQUEST));
        ByteBuffer answer = ByteBuffer.allocate(1024);
        while (!new String(answer.array(), 0, answer.position(), StandardCharsets.ISO_8859_1).endsWith("fine")) {
            if (client.read(answer) < 0) {
                throw new IOException("closed");
            }
        }
    }

    /** What is in use once everything that is not has been collected. */
    @SuppressWarnings("SystemGc")
    private static long memory() {
        System.gc();
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() + direct;
    }
}
