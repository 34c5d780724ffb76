package dev.hapax.bench.outbox;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Has an outbox deliver messages of 300 bytes, and tells how many it did a second. */
public final class OutboxLoad implements AutoCloseable {
    /** How many transactions append at a time. */
    public static final int APPENDERS = 8;

    private static final int RELAY_CONNECTIONS = 2;
    private static final int PER_TRANSACTION = 20;
    private static final long LOOK_EVERY = 2_000_000;

    /** After which time a message of a backlog may be delivered: gruelbox refuses those that are due at once. */
    static final Duration DUE_AFTER = Duration.ofSeconds(2);

    private final Side side;

    private OutboxLoad(Side side) {
        this.side = side;
    }

    /** Our outbox with its defaults. */
    public static OutboxLoad hapax(String jdbcUrl) throws SQLException {
        return new OutboxLoad(new HapaxSide(jdbcUrl, APPENDERS + RELAY_CONNECTIONS));
    }

    /** gruelbox's transaction-outbox with so many workers, and a connection for each. */
    public static OutboxLoad gruelbox(String jdbcUrl, int workers) throws SQLException {
        return new OutboxLoad(new GruelboxSide(jdbcUrl, APPENDERS, workers));
    }

    /** Messages per second from the first append to the last delivery, with appends and deliveries at the same time. */
    public double live(int messages) throws SQLException, InterruptedException, ExecutionException {
        side.deliver(true);
        long before = side.delivered();
        long began = System.nanoTime();
        append(messages);
        double rate = rate(messages, before, began);
        side.deliver(false);
        return rate;
    }

    /** Messages per second from when delivery begins, with all of them there already. */
    public double backlog(int messages) throws SQLException, InterruptedException, ExecutionException {
        side.deliver(false);
        append(messages);
        long due = System.nanoTime() + DUE_AFTER.toNanos();
        while (System.nanoTime() - due < 0) {
            LockSupport.parkNanos(LOOK_EVERY);
        }
        long before = side.delivered();
        long began = System.nanoTime();
        side.deliver(true);
        double rate = rate(messages, before, began);
        side.deliver(false);
        return rate;
    }

    private void append(int messages) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(APPENDERS);
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> appenders = new ArrayList<>();
        for (int i = 0; i < APPENDERS; i++) {
            appenders.add(threads.submit(() -> {
                int from;
                while ((from = next.getAndAdd(PER_TRANSACTION)) < messages) {
                    side.append(from, Math.min(from + PER_TRANSACTION, messages));
                }
                return null;
            }));
        }
        threads.shutdown();
        for (Future<?> appender : appenders) {
            appender.get();
        }
    }

    /** Done is when the table is empty: what was delivered but not removed would be delivered again. */
    private double rate(int messages, long before, long began) throws SQLException {
        while (side.delivered() - before < messages || side.left() > 0) {
            LockSupport.parkNanos(LOOK_EVERY);
        }
        long took = System.nanoTime() - began;
        long delivered = side.delivered() - before;
        if (delivered != messages) {
            System.err.printf("%d deliveries of %d messages%n", delivered, messages);
        }
        return messages * 1e9 / took;
    }

    @Override
    public void close() {
        side.close();
    }
}
