package dev.hapax.messaging;

import dev.hapax.Call;
import dev.hapax.NotBegunException;
import dev.hapax.Scope;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationKey;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** The two ways to run handlers: under a lease, or within a transaction. */
interface Work<M> {

    /**
     * In the order of the operations. None of the stages fails.
     *
     * @param completions where what is chained to the stages runs, unless that is a handler's thread
     */
    List<CompletionStage<Disposition>> run(List<Operation<M>> operations, Executor completions);

    /** What a handler leaves behind: messages have effects, not results. */
    static byte[] nothing() {
        return new byte[0];
    }

    /** It is not wanted here any more, so that nothing speaks against beginning it elsewhere at once. */
    final class ReleasedException extends NotBegunException {
        private static final long serialVersionUID = 1L;

        ReleasedException() {
            super("released before it began");
        }
    }

    /** A delivery, and which operation it is. */
    record Operation<M>(Delivery<M> delivery, OperationKey key, Fingerprint fingerprint) {
        M message() {
            return delivery.message();
        }

        Call<byte[]> in(Scope scope) {
            return scope.tenant(key.tenant()).key(key.key()).fingerprint(fingerprint);
        }

        /** Refuses to begin what is no longer wanted here. */
        void requireTurn() {
            if (!delivery.turn().mayBegin()) {
                throw new ReleasedException();
            }
        }
    }
}
