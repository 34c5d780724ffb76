package dev.hapax;

import java.util.concurrent.CompletionStage;

/** The work that is to be done once, without a thread that waits for it. */
@FunctionalInterface
public interface AsyncHandler<T> {

    /**
     * Begins the work; the stage ends as {@link Handler#run} would, and what is thrown counts as such an end. Blocking
     * is fine on virtual threads; before Java 21, 64 threads serve all handlers unless an executor was chosen.
     */
    CompletionStage<T> run(Lease lease) throws Exception;
}
