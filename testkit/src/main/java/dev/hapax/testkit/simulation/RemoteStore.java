package dev.hapax.testkit.simulation;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationId;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Snapshot;
import dev.hapax.store.Store;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.Swept;
import dev.hapax.store.Written;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One instance's way to the store that all share. Requests and answers take their time, overtake each other, get lost,
 * or come so late that the caller has given up; what was requested may take effect even then.
 */
final class RemoteStore implements Store {
    private static final Duration IO_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration TRANSIT = Duration.ofMillis(5);

    private final SimulatedInstance instance;
    private final ObservedStore store;
    private final VirtualTime time;
    private final Chance chance;
    private final PendingCalls calls;

    RemoteStore(SimulatedInstance instance, ObservedStore store, VirtualTime time, Chance chance, PendingCalls calls) {
        this.instance = instance;
        this.store = store;
        this.time = time;
        this.chance = chance;
        this.calls = calls;
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        long calledAt = time.now();
        calls.claims(request.token());
        store.sent(request);
        return send(() -> store.claim(request), claim -> store.heard(request, claim, calledAt));
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        return send(() -> store.finish(finish), written -> {});
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        return send(() -> store.release(release), written -> {});
    }

    @Override
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
        long calledAt = time.now();
        renewals.forEach(renewal -> calls.renews(renewal.token()));
        return send(
                () -> {
                    List<RenewalStatus> answers = new ArrayList<>();
                    for (Renewal renewal : renewals) {
                        boolean locked = chance.strikes(FaultKind.STORE_LOCKED);
                        answers.add(locked ? RenewalStatus.UNKNOWN : store.renew(renewal));
                    }
                    return answers;
                },
                answers -> {
                    for (int i = 0; i < renewals.size(); i++) {
                        store.heard(renewals.get(i), answers.get(i), calledAt);
                    }
                });
    }

    @Override
    public CompletionStage<Map<OperationId, Snapshot>> find(Collection<OperationId> ids) {
        return send(() -> store.find(ids), found -> {});
    }

    @Override
    public CompletionStage<Swept> sweep(int limit) {
        return send(() -> store.sweep(limit), swept -> {});
    }

    /**
     * @param effect what happens at the store, once
     * @param heard what is written down when the answer arrives
     */
    private <T> CompletionStage<T> send(Supplier<T> effect, Consumer<T> heard) {
        if (chance.strikes(FaultKind.STORE_THREW)) {
            throw new InjectedError("in the store's client");
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        if (store.isAway() && chance.oneIn(2)) {
            chance.strikes(FaultKind.STORE_AWAY);
            instance.later(chance.nanosUpTo(TRANSIT), () -> answer.completeExceptionally(unavailable("is away")));
            return answer;
        }
        boolean unheard = store.isAway() || chance.strikes(FaultKind.REQUEST_LOST);
        if (!unheard) {
            boolean delayed = chance.strikes(FaultKind.REQUEST_DELAYED);
            long transit = chance.nanosUpTo(delayed ? IO_TIMEOUT.multipliedBy(4) : TRANSIT);
            time.at(time.now() + transit, () -> answer(answer, effect.get(), heard));
        }
        instance.later(IO_TIMEOUT.toNanos(), () -> answer.completeExceptionally(unavailable("did not answer")));
        return answer;
    }

    private <T> void answer(CompletableFuture<T> answer, T value, Consumer<T> heard) {
        if (chance.strikes(FaultKind.ANSWER_LOST)) {
            return;
        }
        boolean late = chance.strikes(FaultKind.ANSWER_LATE);
        instance.later(chance.nanosUpTo(late ? IO_TIMEOUT : TRANSIT), () -> {
            if (!answer.isDone()) {
                heard.accept(value);
                answer.complete(value);
            }
        });
    }

    private static StoreUnavailableException unavailable(String why) {
        return new StoreUnavailableException("the simulated store " + why, null);
    }

    @Override
    public void close() {}
}
