package dev.hapax.bench.gateway;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.LongStream;

/**
 * Clients of one server, all on the calling thread: what they cost is small beside what a server does, so that on a
 * small machine the server is what is measured.
 */
final class Clients implements AutoCloseable {
    private static final long SILENCE_MILLIS = 30_000;

    private static final long IDLE_NANOS = 5_000_000_000L;
    private static final long NEVER = Long.MIN_VALUE;

    private final Selector selector = Selector.open();
    private final List<Connection> connections = new ArrayList<>();
    private long usedLast = NEVER;

    Clients(int port, int count) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        for (int i = 0; i < count; i++) {
            connections.add(new Connection(address, selector));
        }
    }

    /** Everyone sends the next request when the answer to the last one is there. */
    LoadResult closedLoop(Duration time, Keys keys) throws IOException {
        ensureOpen();
        long began = System.nanoTime();
        long until = began + time.toNanos();
        for (Connection connection : connections) {
            connection.send(keys);
        }
        int busy = connections.size();
        LongStream.Builder nanos = LongStream.builder();
        while (busy > 0) {
            for (Connection answered : await()) {
                nanos.add(System.nanoTime() - answered.sentAt());
                if (until - System.nanoTime() > 0) {
                    answered.send(keys);
                } else {
                    busy--;
                }
            }
        }
        return LoadResult.of(System.nanoTime() - began, nanos.build());
    }

    /** Sends exactly so many requests, as fast as they are answered. */
    void send(int count, Keys keys) throws IOException {
        ensureOpen();
        Queue<Connection> idle = new ArrayDeque<>(connections);
        int sent = 0;
        int done = 0;
        while (done < count) {
            while (sent < count && !idle.isEmpty()) {
                idle.remove().send(keys);
                sent++;
            }
            List<Connection> answered = await();
            done += answered.size();
            idle.addAll(answered);
        }
    }

    /** Servers close connections that were idle for long: the clients go first. */
    private void ensureOpen() throws IOException {
        if (usedLast == NEVER || System.nanoTime() - usedLast > IDLE_NANOS) {
            for (Connection connection : connections) {
                connection.open();
            }
        }
    }

    /** Those whose answers are complete. */
    private List<Connection> await() throws IOException {
        long began = System.nanoTime();
        if (selector.select(SILENCE_MILLIS) == 0 && System.nanoTime() - began >= SILENCE_MILLIS * 1_000_000) {
            throw new IOException("no answer for " + SILENCE_MILLIS + " ms");
        }
        List<Connection> answered = new ArrayList<>();
        for (SelectionKey key : selector.selectedKeys()) {
            if (key.attachment() instanceof Connection connection && connection.receive()) {
                answered.add(connection);
            }
        }
        selector.selectedKeys().clear();
        usedLast = System.nanoTime();
        return answered;
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.close();
        }
        selector.close();
    }
}
