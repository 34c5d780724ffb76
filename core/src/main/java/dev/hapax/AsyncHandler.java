package dev.hapax;

import java.util.concurrent.CompletionStage;

/** The work that is to be done once, without a thread that waits for it. */
@FunctionalInterface
public interface AsyncHandler<T> {

    /** Begins the work; the stage ends as {@link Handler#run} would. Should not block: 64 threads serve all of them. */
    CompletionStage<T> run(Lease lease);
}
