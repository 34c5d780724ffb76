package dev.hapax;

import dev.hapax.Admission.Owned;
import dev.hapax.store.Result;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.Written;

/**
 * Runs an operation inside the caller's transaction: one row, committed with the effect or not at all. Nothing waits
 * here. An exception takes the effect back, so that it never leaves the outcome unknown.
 */
final class TransactionalRun<T> {
    private final StoreTransaction transaction;
    private final Owned<T> owned;
    private final Settlement settlement;
    private final Results results;
    private final Listeners listeners;

    TransactionalRun(
            StoreTransaction transaction, Owned<T> owned, Settlement settlement, Results results, Listeners listeners) {
        this.transaction = transaction;
        this.owned = owned;
        this.settlement = settlement;
        this.results = results;
        this.listeners = listeners;
    }

    <X extends Exception> Outcome<T> run(Handler<T, X> handler) throws X {
        T value;
        try {
            value = handler.run(owned.lease());
        } catch (Throwable thrown) {
            if (FailureVerdict.endsForGood(owned.request().policy(), thrown)) {
                return reject(TerminalFailure.of(thrown));
            }
            undo(thrown);
            listeners.tell(l -> l.released(owned.request().key(), owned.lease().attempt(), thrown));
            throw thrown;
        }
        Result result = results.encode(owned.request(), owned.lease(), value);
        finish(result);
        settlement.recorded(owned, result, null);
        return new Outcome.Executed<>(owned.request().id(), owned.lease().attempt(), true, Ending.value(value));
    }

    /** If the effect cannot be taken back there is nothing to record: the caller's transaction is to be rolled back. */
    private Outcome<T> reject(TerminalFailure failure) {
        transaction.undo(owned.lease().token());
        Result result = results.encode(owned.request(), failure);
        finish(result);
        settlement.recorded(owned, result, failure);
        return new Outcome.Executed<>(owned.request().id(), owned.lease().attempt(), true, Ending.failure(failure));
    }

    private void undo(Throwable thrown) {
        try {
            transaction.undo(owned.lease().token());
        } catch (RuntimeException broken) {
            thrown.addSuppressed(broken);
        }
    }

    private void finish(Result result) {
        Written written;
        try {
            written = transaction.finish(Settlement.finishOf(owned, result));
        } catch (RuntimeException broken) {
            undo(broken);
            throw broken;
        }
        if (written == Written.CLAIM_LOST) {
            transaction.undo(owned.lease().token());
            throw settlement.claimLost(owned);
        }
    }
}
