package dev.hapax.bench.gateway;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;

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

    /**
     * Everyone sends the next request when the answer to the last one is there.
     *
     * @return answers per second
     */
    double closedLoop(Duration time, Keys keys) throws IOException {
        ensureOpen();
        long began = System.nanoTime();
        long until = began + time.toNanos();
        for (Connection connection : connections) {
            connection.send(keys, began);
        }
        int busy = connections.size();
        long done = 0;
        while (busy > 0) {
            for (Connection answered : await()) {
                done++;
                if (until - System.nanoTime() > 0) {
                    answered.send(keys, 0);
                } else {
                    busy--;
                }
            }
        }
        return done * 1e9 / (System.nanoTime() - began);
    }

    /** Sends exactly so many requests, as fast as they are answered. */
    void send(int count, Keys keys) throws IOException {
        ensureOpen();
        Queue<Connection> idle = new ArrayDeque<>(connections);
        int sent = 0;
        int done = 0;
        while (done < count) {
            while (sent < count && !idle.isEmpty()) {
                idle.remove().send(keys, 0);
                sent++;
            }
            List<Connection> answered = await();
            done += answered.size();
            idle.addAll(answered);
        }
    }

    /**
     * Requests come in at their time, whether those before have been answered or not; one that finds no idle client
     * waits for it, and the wait counts.
     *
     * @return the nanoseconds from when each was to be sent until its answer was there, in ascending order
     */
    long[] openLoop(int perSecond, Duration time, Keys keys) throws IOException {
        ensureOpen();
        long gap = 1_000_000_000L / perSecond;
        long[] nanos = new long[Math.toIntExact(time.toNanos() / gap)];
        Queue<Connection> idle = new ArrayDeque<>(connections);
        long began = System.nanoTime();
        Thread pacer = wakeAt(began, gap, nanos.length);
        int sent = 0;
        int done = 0;
        while (done < nanos.length) {
            for (long due = began + sent * gap;
                    sent < nanos.length && due - System.nanoTime() <= 0 && !idle.isEmpty();
                    due += gap) {
                idle.remove().send(keys, due);
                sent++;
            }
            for (Connection answered : await()) {
                nanos[done++] = System.nanoTime() - answered.due();
                idle.add(answered);
            }
        }
        pacer.interrupt();
        Arrays.sort(nanos);
        return nanos;
    }

    /** A selector of its own wakes on whole milliseconds only. */
    private Thread wakeAt(long began, long gap, int times) {
        Thread pacer = new Thread(
                () -> {
                    for (int i = 0; i < times && !Thread.currentThread().isInterrupted(); i++) {
                        long due = began + i * gap;
                        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                            LockSupport.parkNanos(left);
                        }
                        selector.wakeup();
                    }
                },
                "pacer");
        pacer.setDaemon(true);
        pacer.start();
        return pacer;
    }

    /** Servers close connections that were idle for long: the clients go first. */
    private void ensureOpen() throws IOException {
        if (usedLast == NEVER || System.nanoTime() - usedLast > IDLE_NANOS) {
            for (Connection connection : connections) {
                connection.open();
            }
        }
    }

    /** Those whose answers are complete; nobody, if it was only woken. */
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
