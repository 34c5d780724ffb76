package dev.hapax.store;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Where operations live. Safe for use by many threads, and by many processes on the same data.
 *
 * <pre>
 *            claim                    finish
 *  (none) ───────────▶ PROCESSING ──────────────▶ COMPLETED ──deadline──▶ (removed)
 *                       ▲  │  │  └─────────────▶ FAILED    ──deadline──▶ (removed)
 *                       │  │  └─ release / lease ends, PARK ──▶ IN_DOUBT
 *                       │  └──── release / lease ends, RERUN ──▶ PENDING
 *  PENDING ─────────────┘
 *    └── deadline passes, nobody came ──▶ FAILED (408)
 * </pre>
 *
 * <p>What every store promises; {@code StoreContract} in the testkit is the executable form:
 *
 * <ul>
 *   <li>A claim is decided by one atomic step. At most one claim of an operation is live at any time.
 *   <li>{@code finish}, {@code renew} and {@code release} change something only if the operation is
 *       {@link State#PROCESSING} <em>and</em> carries the sender's token. Otherwise they change nothing and answer
 *       {@link Written#CLAIM_LOST}; a renewal answers with a {@link RenewalStatus}.
 *   <li>Every write is idempotent: the same claim wins again with its lease from the beginning, unless it was given
 *       back; the same finish and release are recorded again.
 *   <li>A result, once stored, is never replaced, and is given back byte for byte until its deadline.
 *   <li>The fingerprint is compared in every state of an operation that has not expired.
 *   <li>Only the store's own clock decides whether a deadline has passed.
 *   <li>An operation in {@link State#PROCESSING} or {@link State#IN_DOUBT} is never removed by a sweep.
 *   <li>Correctness never depends on sweeping: claims act on what has passed by themselves.
 * </ul>
 *
 * <p>No method blocks, except those of {@link #forBlockingCallers()}: an event loop may call them. Stages are completed
 * on threads of the store, so what follows them is short, or goes elsewhere.
 *
 * <p>A stage fails with {@link StoreUnavailableException} when the store could not be reached or did not answer in
 * time; whether the write took effect is then unknown, and sending it again is safe. Any other failure is a
 * {@link StoreException} that sending again will not mend.
 */
public interface Store extends AutoCloseable {

    /** Decides who runs the operation. */
    CompletionStage<Claim> claim(ClaimRequest request);

    /** Decides many claims, each on its own, in as few round trips as the store can. */
    default List<CompletionStage<Claim>> claimAll(List<ClaimRequest> requests) {
        return requests.stream().map(this::claim).toList();
    }

    /**
     * How an ended operation would be answered if it were claimed, if this process has it in memory: asks nobody. A
     * store that keeps nothing in memory has nothing to say here.
     */
    default @Nullable Recalled recall(OperationKey key, Fingerprint fingerprint) {
        return null;
    }

    /** Stores how the operation ended. */
    CompletionStage<Written> finish(Finish finish);

    /** Gives the claim up; the operation becomes {@link State#PENDING} or {@link State#IN_DOUBT}. */
    CompletionStage<Written> release(Release release);

    /**
     * Prolongs leases, each on its own: one that meets a lock or an outage is {@link RenewalStatus#UNKNOWN}, and the
     * answers to the others are kept.
     *
     * @return what became of each, in the same order
     */
    CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals);

    /** Looks operations up, in one go. What is not there is not in the answer. */
    CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids);

    /**
     * Gives at most {@code limit} operations past their deadline what their state says. May run in any number of
     * processes at once: each operation is handled, and counted, by one of them.
     */
    CompletionStage<Swept> sweep(int limit);

    /**
     * The same store for callers that wait for each answer anyway: it may do its work on their threads, which spares
     * them a hand-over.
     */
    default Store forBlockingCallers() {
        return this;
    }

    /** Lets go of what the store itself opened; never of what it was given. Closing twice does nothing. */
    @Override
    void close();
}
