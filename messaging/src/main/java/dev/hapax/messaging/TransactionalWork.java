package dev.hapax.messaging;

import dev.hapax.Hapax;
import dev.hapax.Lease;
import dev.hapax.NotBegunException;
import dev.hapax.Outcome;
import dev.hapax.RetryableException;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.Transactions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs each handler in a transaction that also records it, and says so once it is committed.
 *
 * <p>A rollback leaves nothing behind, not even that there was an attempt, so a message that always fails would come
 * back for ever. Hence the attempt is written down afterwards: the operation is claimed and released, outside of the
 * transaction.
 */
final class TransactionalWork<M, C> implements Work<M> {
    private static final Logger log = LoggerFactory.getLogger(TransactionalWork.class);

    private final Hapax hapax;
    private final String name;
    private final Transactions<C> transactions;
    private final TransactionalHandler<M, C> handler;
    private final Dispositions dispositions;

    TransactionalWork(
            Hapax hapax,
            String name,
            Transactions<C> transactions,
            TransactionalHandler<M, C> handler,
            Dispositions dispositions) {
        this.hapax = hapax;
        this.name = name;
        this.transactions = transactions;
        this.handler = handler;
        this.dispositions = dispositions;
    }

    @Override
    public List<CompletionStage<Disposition>> run(List<Operation<M>> operations, Executor completions) {
        return operations.stream().map(operation -> run(operation, completions)).toList();
    }

    private CompletionStage<Disposition> run(Operation<M> operation, Executor completions) {
        try {
            return CompletableFuture.supplyAsync(
                            () -> handle(operation, completions),
                            operation.delivery().executor())
                    .thenCompose(disposition -> disposition);
        } catch (RuntimeException | Error refused) {
            return CompletableFuture.completedFuture(dispositions.of(new RejectedExecutionException(refused), 0));
        }
    }

    private CompletionStage<Disposition> handle(Operation<M> operation, Executor completions) {
        AtomicInteger attempt = new AtomicInteger();
        try {
            operation.requireTurn();
            Outcome<byte[]> outcome = transactions.call(
                    (connection, transaction) -> handleWithin(operation, connection, transaction, attempt));
            return CompletableFuture.completedFuture(dispositions.of(outcome));
        } catch (Throwable thrown) {
            Disposition disposition = dispositions.of(thrown, attempt.get());
            return attempt.get() == 0 || thrown instanceof StoreException
                    ? CompletableFuture.completedFuture(disposition)
                    : writeDown(operation, thrown, completions).thenApply(written -> disposition);
        }
    }

    private Outcome<byte[]> handleWithin(
            Operation<M> operation, C connection, StoreTransaction transaction, AtomicInteger attempt)
            throws Exception {
        return operation.in(hapax.transactional(transaction).scope(name)).run(lease -> {
            attempt.set(lease.attempt());
            handle(operation, connection, lease);
            return Work.nothing();
        });
    }

    private void handle(Operation<M> operation, C connection, Lease lease) throws Exception {
        try {
            handler.handle(operation.message(), connection, lease);
        } catch (Exception thrown) {
            Throwable judged = LastAttempt.judge(dispositions.policy(), lease, thrown);
            throw judged instanceof RuntimeException terminal && judged != thrown ? terminal : thrown;
        }
    }

    /** The transaction took back whatever the handler did, so that no policy may take the outcome for unknown. */
    private CompletionStage<?> writeDown(Operation<M> operation, Throwable thrown, Executor completions) {
        Throwable takenBack =
                thrown instanceof NotBegunException ? thrown : new RetryableException("rolled back: " + thrown, thrown);
        return operation
                .in(hapax.scope(name))
                .runAsync(lease -> CompletableFuture.failedFuture(takenBack), Runnable::run, completions)
                .handle((outcome, error) -> {
                    log.debug(
                            "Wrote down a failed attempt of {}: {}",
                            operation.key().id(),
                            thrown.toString());
                    return Work.nothing();
                });
    }
}
