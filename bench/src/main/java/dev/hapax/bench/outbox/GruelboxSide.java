package dev.hapax.bench.outbox;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.ThreadLocalContextTransactionManager;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * gruelbox's transaction-outbox as its documentation sets it up: work is handed to an executor right after the commit,
 * and a background thread flushes what nobody has taken on. Its queue has no bound, so that nothing has to be found
 * again, and it has a connection for every worker. This version knows no order.
 */
final class GruelboxSide implements Side {
    private static final Duration BETWEEN_FLUSHES = Duration.ofMillis(100);

    private final HikariDataSource pool;
    private final ExecutorService workers;
    private final ThreadLocalContextTransactionManager transactions;
    private final TransactionOutbox delivering;
    private final TransactionOutbox storing;
    private final AtomicLong delivered = new AtomicLong();
    private final Thread flusher;
    private volatile boolean deliver;
    private volatile boolean closed;

    /** What is scheduled. */
    public interface Delivery {
        void deliver(String aggregate, String body);
    }

    GruelboxSide(String jdbcUrl, int appenders, int threads) throws SQLException {
        pool = Orders.pool(jdbcUrl, appenders + threads + 1);
        workers = Executors.newFixedThreadPool(threads);
        transactions = TransactionManager.fromDataSource(pool);
        delivering = outbox(Submitter.withExecutor(workers), Duration.ofMinutes(2));
        storing = outbox((entry, processing) -> {}, OutboxLoad.DUE_AFTER);
        Orders.create(pool);
        flusher = new Thread(this::flush, "flusher");
        flusher.setDaemon(true);
        flusher.start();
    }

    private TransactionOutbox outbox(Submitter submitter, Duration attemptFrequency) {
        Delivery delivery = (aggregate, body) -> delivered.incrementAndGet();
        return TransactionOutbox.builder()
                .transactionManager(transactions)
                .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
                .instantiator(Instantiator.using(type -> delivery))
                .submitter(submitter)
                .attemptFrequency(attemptFrequency)
                .build();
    }

    private void flush() {
        while (!closed) {
            boolean more = deliver && delivering.flush();
            if (!more) {
                LockSupport.parkNanos(BETWEEN_FLUSHES.toNanos());
            }
        }
    }

    @Override
    public void append(int from, int to) throws SQLException {
        TransactionOutbox outbox = deliver ? delivering : storing;
        transactions.inTransactionThrows(transaction -> {
            Orders.insert(transaction.connection(), from);
            for (int i = from; i < to; i++) {
                outbox.schedule(Delivery.class).deliver(Orders.aggregate(i), Orders.body(i));
            }
        });
    }

    @Override
    public void deliver(boolean deliver) {
        this.deliver = deliver;
    }

    @Override
    public long delivered() {
        return delivered.get();
    }

    @Override
    public long left() throws SQLException {
        return Orders.count(pool, "txno_outbox");
    }

    @Override
    public void close() {
        deliver = false;
        closed = true;
        try {
            flusher.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        workers.shutdown();
        pool.close();
    }
}
