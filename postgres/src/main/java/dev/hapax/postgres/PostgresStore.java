package dev.hapax.postgres;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.ForwardingStore;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.ServiceThread;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.Swept;
import dev.hapax.store.Written;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps operations in PostgreSQL 14 or later, over any {@link DataSource}. Safe for use by many threads and processes.
 *
 * <p>The tables must be there: see {@link PostgresSchema}. A connection is held for one batch of statements, never
 * while a handler runs, and never more than one by the same thread; a pool of one works. Works behind a connection
 * pooler in transaction mode: no state is left in a session.
 *
 * <p><b>Connections.</b> However many callers there are, and whatever is locked, requests take at most 2 ×
 * {@link Builder#maxConcurrentBatches} + 4 connections at a time, by default 8: for claims and for finishes
 * {@code maxConcurrentBatches} each, for releases, renewals and look-ups one each, and one to retry requests that met a
 * lock. Besides, a {@link #sweep} takes one, and so does each call of {@link #inspector}.
 *
 * <p><b>Transactions.</b> The store never uses a connection in the middle of a transaction that it did not begin:
 * claims that would need it fail with {@link OpenTransactionException}, and anything else is sent by a thread of the
 * store. For data sources that bind connections to the calling thread see {@link Builder#callerThreads}.
 *
 * <p>How soon an outage is noticed depends on the pool: give it a connection timeout of a second or two.
 *
 * <p>Its own threads end by themselves when there is nothing to do.
 */
public final class PostgresStore implements Store {
    private static final Logger log = LoggerFactory.getLogger(PostgresStore.class);
    private static final Duration SWEEP_IO_TIMEOUT = Duration.ofMinutes(1);
    private static final int MAX_FIND_SIZE = 10_000;

    private final Sessions sessions;
    private final StatementSettings byKey;
    private final StatementSettings byDeadline;
    private final ReplayRatio replayRatio = new ReplayRatio();
    private final Batchers<ClaimRequest, Claim> claims;
    private final Batchers<Finish, Written> finishes;
    private final Batcher<Release, Written> releases;
    private final Batcher<Renewal, RenewalStatus> renewals;
    private final Batcher<OperationId, Optional<Snapshot>> finds;
    private final BatcherSettings settings;
    private final boolean callerThreads;

    private PostgresStore(Builder builder) {
        ThreadFactory threads = ServiceThread.factory("hapax-postgres");
        ThreadPoolExecutor workers =
                new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), threads);
        ScheduledThreadPoolExecutor retryThread = new ScheduledThreadPoolExecutor(1, threads);
        retryThread.setKeepAliveTime(10, TimeUnit.SECONDS);
        retryThread.allowCoreThreadTimeOut(true);
        callerThreads = builder.callerThreads;
        sessions = new Sessions(builder.dataSource, builder.ioTimeout);
        byKey = StatementSettings.byKey(builder.lockTimeout);
        byDeadline = StatementSettings.byDeadline(builder.lockTimeout);
        settings = new BatcherSettings(sessions, builder.maxBatchSize, workers, retryThread, callerThreads);
        Duration lockTimeout = builder.lockTimeout;
        Duration lockWaitTimeout = builder.lockWaitTimeout;
        claims = new Batchers<>(builder.maxConcurrentBatches, new ClaimBatch(lockTimeout, replayRatio), settings);
        finishes = new Batchers<>(
                builder.maxConcurrentBatches, OwnerWriteBatch.finish(lockTimeout, lockWaitTimeout), settings);
        releases = new Batcher<>(OwnerWriteBatch.release(lockTimeout, lockWaitTimeout), settings);
        renewals = new Batcher<>(new RenewBatch(lockTimeout), settings);
        finds = new Batcher<>(new FindBatch(lockTimeout, lockWaitTimeout), settings.withMaxBatchSize(MAX_FIND_SIZE));
    }

    /** With the default settings. */
    public static PostgresStore over(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        return claimBatcher(request.id()).submit(request);
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        return finishes.of(finish.id()).submit(finish);
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        return releases.submit(release);
    }

    @Override
    public List<CompletionStage<Claim>> claimAll(List<ClaimRequest> requests) {
        return requests.isEmpty()
                ? List.of()
                : List.copyOf(claimBatcher(requests.get(0).id()).submitAll(requests));
    }

    /**
     * {@inheritDoc} The stages that it returns are done, unless the caller was interrupted, or the store may not use
     * callers' threads.
     */
    @Override
    public Store forBlockingCallers() {
        return callerThreads ? new CallerRunsStore() : this;
    }

    @Override
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewed) {
        Queue<Throwable> outages = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<RenewalStatus>> answers = renewals.submitAll(renewed).stream()
                .map(answer -> answer.exceptionallyCompose(error -> unknownIfUnavailable(error, outages)))
                .toList();
        return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                .thenApply(all -> {
                    if (!outages.isEmpty()) {
                        log.warn(
                                "{} of {} leases could not be renewed and will be tried again: {}",
                                outages.size(),
                                answers.size(),
                                outages.peek().toString());
                    }
                    return answers.stream().map(CompletableFuture::join).toList();
                });
    }

    /**
     * A renewal that met an outage says nothing about the others. Nor does a lock say who has the operation: the
     * transaction that has locked the row may be the one that takes it over.
     */
    private static CompletableFuture<RenewalStatus> unknownIfUnavailable(Throwable error, Queue<Throwable> outages) {
        Throwable cause = error instanceof CompletionException ? error.getCause() : error;
        if (!(cause instanceof StoreUnavailableException)) {
            return CompletableFuture.failedFuture(error);
        }
        if (!SqlErrors.isFromContention(error)) {
            outages.add(cause);
        }
        return CompletableFuture.completedFuture(RenewalStatus.UNKNOWN);
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        List<CompletableFuture<Optional<Snapshot>>> answers = finds.submitAll(ids);
        return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                .thenApply(all -> answers.stream()
                        .flatMap(answer -> answer.join().stream())
                        .collect(Collectors.toMap(Snapshot::id, Function.identity())));
    }

    @Override
    public CompletionStage<Swept> sweep(int limit) {
        CompletableFuture<Swept> swept = new CompletableFuture<>();
        settings.executeStatements(
                () -> {
                    try {
                        swept.complete(
                                sessions.call(SWEEP_IO_TIMEOUT, session -> Sweep.round(session, byDeadline, limit)));
                    } catch (RuntimeException | Error e) {
                        swept.completeExceptionally(e);
                    }
                },
                swept::completeExceptionally);
        return swept;
    }

    /**
     * Enlists the caller's own transaction, so that the effect and its record commit or vanish together.
     *
     * <pre>{@code
     * hapax.transactional(store.enlist(connection)).scope("orders").key(key).run(lease -> insertOrder(connection));
     * connection.commit();
     * }</pre>
     *
     * <p>Meant for one or a few operations in a transaction: each leaves a savepoint until it ends. The connection's
     * own {@code socketTimeout} is what notices a database that went silent. The driver's {@code autosave=always}
     * together with {@code cleanupSavepoints=true} is not supported.
     *
     * @param connection with a transaction open, or about to be: not in auto-commit mode. Never closed, committed or
     *     rolled back as a whole by Hapax
     * @throws IllegalArgumentException when the connection is in auto-commit mode
     */
    public StoreTransaction enlist(Connection connection) {
        return PostgresTransaction.on(connection);
    }

    /** For consoles and command lines. */
    public PostgresInspector inspector() {
        return new PostgresInspector(sessions, byKey);
    }

    /** There is nothing to close: the data source is not ours, and idle threads of ours end by themselves. */
    @Override
    public void close() {}

    /** Reads wait for no disk, so one batcher is best for them: larger batches, and nothing lost by taking turns. */
    private Batcher<ClaimRequest, Claim> claimBatcher(OperationId id) {
        return replayRatio.isHigh() ? claims.first() : claims.of(id);
    }

    /** The same store for callers that wait: they may send frequent requests themselves. */
    private final class CallerRunsStore extends ForwardingStore {
        CallerRunsStore() {
            super(PostgresStore.this);
        }

        @Override
        public CompletionStage<Claim> claim(ClaimRequest request) {
            return claimBatcher(request.id()).submitAndWait(request);
        }

        @Override
        public List<CompletionStage<Claim>> claimAll(List<ClaimRequest> requests) {
            return PostgresStore.this.claimAll(requests);
        }

        @Override
        public CompletionStage<Written> finish(Finish finish) {
            return finishes.of(finish.id()).submitAndWait(finish);
        }

        @Override
        public CompletionStage<Written> release(Release release) {
            return releases.submitAndWait(release);
        }
    }

    /** Collects the settings of a {@link PostgresStore}. Not safe for use by many threads. */
    public static final class Builder {
        private final DataSource dataSource;
        private int maxConcurrentBatches = 2;
        private int maxBatchSize = 512;
        private Duration lockTimeout = Duration.ofMillis(100);
        private Duration lockWaitTimeout = Duration.ofSeconds(30);
        private Duration ioTimeout = Duration.ofSeconds(3);
        private boolean callerThreads = true;

        private Builder(DataSource dataSource) {
            this.dataSource = dataSource;
        }

        /** How many batches of claims, and as many of finishes, may be under way at a time. Default: 2. */
        public Builder maxConcurrentBatches(int batches) {
            this.maxConcurrentBatches = atLeastOne(batches, "maxConcurrentBatches");
            return this;
        }

        /** How many requests may be sent in one batch. Default: 512; fewer if their results are large. */
        public Builder maxBatchSize(int operations) {
            this.maxBatchSize = atLeastOne(operations, "maxBatchSize");
            return this;
        }

        /** How long a batch waits for a row that another transaction has locked. Default: 100 ms. */
        public Builder lockTimeout(Duration lockTimeout) {
            this.lockTimeout = positive(lockTimeout, "lockTimeout");
            return this;
        }

        /**
         * How long a finish, a release or a look-up waits for a lock of another transaction, before it fails. Default:
         * 30 s. A claim says itself how long it waits ({@link ClaimRequest#timeout}); a renewal does not wait.
         */
        public Builder lockWaitTimeout(Duration lockWaitTimeout) {
            this.lockWaitTimeout = positive(lockWaitTimeout, "lockWaitTimeout");
            return this;
        }

        /**
         * How long to wait for an answer of the database before the connection counts as broken. Default: 3 s, so that
         * a call whose request was lost has time to send it again.
         */
        public Builder ioTimeout(Duration ioTimeout) {
            this.ioTimeout = positive(ioTimeout, "ioTimeout");
            return this;
        }

        /**
         * Whether a platform thread that waits for its answer may send requests itself, those of other callers among
         * them. Default: {@code true}, which spares single callers a hand-over.
         *
         * <p>Set it to {@code false} for a data source whose connections depend on the calling thread: Spring's
         * {@code TransactionAwareDataSourceProxy}, or routing by a {@code ThreadLocal} (tenant, read-only). The store
         * then takes connections on threads of its own only, to which nothing is bound. A database per tenant needs a
         * store per tenant.
         */
        public Builder callerThreads(boolean allowed) {
            this.callerThreads = allowed;
            return this;
        }

        public PostgresStore build() {
            return new PostgresStore(this);
        }

        private static int atLeastOne(int value, String name) {
            if (value < 1) {
                throw new IllegalArgumentException(name + " is " + value + "; at least 1 is needed");
            }
            return value;
        }

        private static Duration positive(Duration value, String name) {
            if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException(
                        name + " is " + value + "; between a millisecond and a day is needed");
            }
            return value;
        }
    }
}
