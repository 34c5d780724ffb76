package dev.hapax;

import dev.hapax.store.Claim;
import dev.hapax.store.Store;

/** What admission ends with: an answer, or the ownership of the operation. */
sealed interface Admission<T> {

    record Answered<T>(Claim claim) implements Admission<T> {}

    /**
     * The call runs the handler.
     *
     * @param call the call that was admitted
     * @param flight what the other calls of this process follow
     * @param keeping ends the renewal of the lease
     * @param isProtected {@code false} when there is no claim to settle, because the store could not be reached
     */
    record Owned<T>(
            PendingCall<T> call, HeldLease lease, Flight flight, LeaseKeeper.Keeping keeping, boolean isProtected)
            implements Admission<T> {

        Request<T> request() {
            return call.request();
        }

        /** The store, as its caller uses it. */
        Store via() {
            return call.via();
        }

        /** For a caller whose thread is elsewhere by now. */
        Owned<T> via(Store other) {
            return new Owned<>(call.again(other), lease, flight, keeping, isProtected);
        }
    }
}
