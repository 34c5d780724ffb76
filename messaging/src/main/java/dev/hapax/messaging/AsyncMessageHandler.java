package dev.hapax.messaging;

import dev.hapax.Lease;
import java.util.concurrent.CompletionStage;

/** The work that a message asks for, without a thread that waits for it. */
@FunctionalInterface
public interface AsyncMessageHandler<M> {

    /** Begins the work; the stage ends as {@link MessageHandler#handle} would. */
    CompletionStage<?> handle(M message, Lease lease);
}
