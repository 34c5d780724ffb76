package dev.hapax.embedded.postgres;

import java.io.IOException;
import java.time.Duration;

/** A server's first process, from its start to its end. */
interface Postmaster {

    long pid();

    boolean isRunning();

    /** Asks the server to end its sessions, write everything and stop; does not wait. */
    void requestStop() throws IOException;

    /** Waits for the end; false when it did not come in time. */
    boolean awaitExit(Duration limit);
}
