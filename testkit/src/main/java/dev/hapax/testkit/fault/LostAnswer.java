package dev.hapax.testkit.fault;

import java.io.IOException;
import java.net.Socket;

/**
 * The answer that a client shall not see, on one connection.
 *
 * <p>The first answer byte does not prove that the server is done: PostgreSQL flushes its output every 8 KiB, so a long
 * batch is answered in part before its commit, and a pipelining client may still have an earlier answer under way. So
 * once the request is forwarded and an answer begins, the server's input is closed. A server reads what it was sent,
 * finds the end, and hangs up: its end of stream is the proof that everything before it was processed.
 *
 * <p>Thread-safe: one pump tells of the request, the other of the answer.
 */
final class LostAnswer {

    private final Socket server;
    private boolean forwarded;
    private long swallowed;

    LostAnswer(Socket server) {
        this.server = server;
    }

    synchronized void forwarded() {
        forwarded = true;
        endRequestOnceAnswered();
    }

    synchronized void swallow(int bytes) {
        swallowed += bytes;
        endRequestOnceAnswered();
    }

    synchronized long swallowed() {
        return swallowed;
    }

    /** Tells the server that nothing more will come; it goes on with what it has. */
    synchronized void endRequest() {
        try {
            if (!server.isOutputShutdown()) {
                server.shutdownOutput();
            }
        } catch (IOException alreadyGone) {
            // A server that hung up first has nothing left to be told.
        }
    }

    private void endRequestOnceAnswered() {
        if (forwarded && swallowed > 0) {
            endRequest();
        }
    }
}
