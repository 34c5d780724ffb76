package dev.hapax.testkit.history;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.ForwardingStore;
import dev.hapax.store.Payload;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import dev.hapax.store.Result;
import dev.hapax.store.Store;
import dev.hapax.store.Written;
import dev.hapax.testkit.history.Event.Claimed;
import dev.hapax.testkit.history.Event.Completed;
import dev.hapax.testkit.history.Event.Completing;
import dev.hapax.testkit.history.Event.Refused;
import dev.hapax.testkit.history.Event.Released;
import dev.hapax.testkit.history.Event.Releasing;
import dev.hapax.testkit.history.Event.Renewed;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A store whose owners' steps are written down for the {@link HistoryChecker}. Thread-safe if the store is.
 *
 * <p>What callers are told, and when handlers run, only the caller knows: {@link Event.Answered}, {@link Event.Ran} and
 * {@link Event.GivenUp} are for it to record.
 */
public final class RecordingStore extends ForwardingStore {
    private final HistoryRecorder recorder;

    /** A claim that was sent again may have been granted the first time: its lease counts from there. */
    private final Map<UUID, Long> firstCalledAt = new ConcurrentHashMap<>();

    public RecordingStore(Store store, HistoryRecorder recorder) {
        super(store);
        this.recorder = recorder;
    }

    /** How a result is named in the history: the same in every process. */
    public static String digest(Result result) {
        Payload payload = result.payload();
        String body = payload == null ? "" : HexFormat.of().formatHex(payload.body());
        String whole = "%s %d %s %s".formatted(result.state(), result.code(), result.error(), body);
        return UUID.nameUUIDFromBytes(whole.getBytes(StandardCharsets.UTF_8)).toString();
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        long calledAt = firstCalledAt.computeIfAbsent(request.token(), token -> System.nanoTime());
        return super.claim(request).thenApply(claim -> {
            firstCalledAt.remove(request.token());
            if (claim instanceof Claim.Won won) {
                recorder.record(new Claimed(
                        request.id().toString(),
                        request.token().toString(),
                        request.owner(),
                        won.attempt(),
                        Window.since(calledAt),
                        request.terms().lease().toNanos()));
            }
            return claim;
        });
    }

    @Override
    public CompletionStage<Written> finish(Finish finish) {
        String operation = finish.id().toString();
        String token = finish.token().toString();
        String result = digest(finish.result());
        long calledAt = System.nanoTime();
        recorder.record(new Completing(operation, token, result, calledAt));
        return super.finish(finish).thenApply(written -> {
            Window call = Window.since(calledAt);
            recorder.record(
                    written == Written.RECORDED
                            ? new Completed(operation, token, result, call)
                            : new Refused(operation, token, "finish", call));
            return written;
        });
    }

    @Override
    public CompletionStage<Written> release(Release release) {
        String operation = release.id().toString();
        String token = release.token().toString();
        long calledAt = System.nanoTime();
        recorder.record(new Releasing(operation, token, calledAt));
        return super.release(release).thenApply(written -> {
            Window call = Window.since(calledAt);
            recorder.record(
                    written == Written.RECORDED
                            ? new Released(operation, token, call)
                            : new Refused(operation, token, "release", call));
            return written;
        });
    }

    @Override
    public CompletionStage<List<RenewalStatus>> renew(List<Renewal> renewals) {
        long calledAt = System.nanoTime();
        return super.renew(renewals).thenApply(answers -> {
            Window call = Window.since(calledAt);
            for (int i = 0; i < renewals.size(); i++) {
                record(renewals.get(i), answers.get(i), call);
            }
            return answers;
        });
    }

    private void record(Renewal renewal, RenewalStatus answer, Window call) {
        String operation = renewal.id().toString();
        String token = renewal.token().toString();
        if (answer == RenewalStatus.RENEWED) {
            recorder.record(new Renewed(operation, token, call, renewal.lease().toNanos()));
        } else if (answer == RenewalStatus.LOST) {
            recorder.record(new Refused(operation, token, "renew", call));
        }
    }
}
