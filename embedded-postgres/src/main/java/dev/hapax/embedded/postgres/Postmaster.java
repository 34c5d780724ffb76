package dev.hapax.embedded.postgres;

import java.io.IOException;
import java.time.Duration;

/** A server's first process, from its start to its end. */
interface Postmaster {

    long pid();

    boolean isRunning();

    /** Asks the server to end its sessions and stop; does not wait. */
    void requestStop(StopMode mode) throws IOException;

    enum StopMode {
        /** Writes everything, so that the next start has nothing to recover. */
        FAST("INT"),
        /** Writes nothing: for data that is removed next. */
        IMMEDIATE("QUIT");

        final String signal;

        StopMode(String signal) {
            this.signal = signal;
        }
    }

    /** Waits for the end; false when it did not come in time. */
    boolean awaitExit(Duration limit);
}
