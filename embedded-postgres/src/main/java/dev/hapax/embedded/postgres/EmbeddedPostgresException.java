package dev.hapax.embedded.postgres;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The failure to start, stop or signal an embedded server; {@link #reason()} says which one it is. */
public final class EmbeddedPostgresException extends RuntimeException {

    /** What went wrong, for callers that act on it; the message says what to do about it. */
    public enum Reason {
        /** No binaries are known for this operating system and processor. */
        UNSUPPORTED_PLATFORM,
        /** The binaries are not on the class path, or the given path holds none. */
        BINARIES_MISSING,
        /** The process runs as root, and no way to start a server without root's rights works here. */
        NO_UNPRIVILEGED_USER,
        /** A live server already runs on the data directory. */
        DATA_DIRECTORY_IN_USE,
        /** The data directory holds something that was not made by this class. */
        DATA_DIRECTORY_UNUSABLE,
        /** The data directory belongs to another major version of PostgreSQL. */
        DATA_DIRECTORY_OF_OTHER_VERSION,
        /** Something else listens on the port. */
        PORT_IN_USE,
        /** The server, or a command that prepares it, failed; the message ends with its output. */
        SERVER_FAILED,
        /** The calling thread was interrupted; its interrupt flag is set again. */
        INTERRUPTED
    }

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    EmbeddedPostgresException(Reason reason, String message) {
        this(reason, message, null);
    }

    EmbeddedPostgresException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    public Reason reason() {
        return reason;
    }
}
