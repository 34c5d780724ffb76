package dev.hapax.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.hapax.store.Claim;
import dev.hapax.store.Claim.Replay;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Durations;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.ForwardingStore;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Recalled;
import dev.hapax.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the results of operations that are asked for again in this process's memory. Safe for use by many threads.
 *
 * <p>It holds what has ended, and nothing else: a result never changes until its deadline, so an answer from here is
 * the store's own. It never grants a claim. The fingerprint is compared on every hit, and what the store would no
 * longer answer, nor does this: an answer is given again only for as long as the store said that it holds, counted from
 * before the store was asked.
 *
 * <p>A result comes in with its first replay, not when it is stored: most operations are never asked for again.
 *
 * <p>While the store cannot be reached, repeats that are in here are still answered.
 */
public final class NearCache extends ForwardingStore {
    private final Cache<OperationKey, Kept> cache;
    private final Duration atMost;
    private final Ticker ticker;

    /** @param forNanos how long the answer holds, from when it was asked for */
    private record Kept(Fingerprint fingerprint, Recalled recalled, long askedAt, long forNanos) {
        private static final int OVERHEAD = 400;

        int weight() {
            Payload payload = recalled.replay().result().payload();
            return OVERHEAD + (payload == null ? 0 : payload.headers().length + payload.body().length);
        }

        /** How much longer it holds. */
        long left(long now) {
            return forNanos - (now - askedAt);
        }
    }

    private NearCache(Store store, Cache<OperationKey, Kept> cache, Duration atMost, Ticker ticker) {
        super(store);
        this.cache = cache;
        this.atMost = atMost;
        this.ticker = ticker;
    }

    /** With the default settings. */
    public static NearCache over(Store store) {
        return builder(store).build();
    }

    public static Builder builder(Store store) {
        return new Builder(store);
    }

    @Override
    public @Nullable Recalled recall(OperationKey key, Fingerprint fingerprint) {
        Kept kept = kept(key, fingerprint);
        return kept == null ? super.recall(key, fingerprint) : kept.recalled();
    }

    private @Nullable Kept kept(OperationKey key, Fingerprint fingerprint) {
        Kept kept = cache.getIfPresent(key);
        return kept != null && kept.fingerprint().equals(fingerprint) ? kept : null;
    }

    @Override
    public CompletionStage<Claim> claim(ClaimRequest request) {
        long askedAt = ticker.read();
        Kept kept = kept(request.key(), request.fingerprint());
        if (kept != null) {
            Replay replay = kept.recalled().replay();
            Duration left = Duration.ofNanos(kept.left(askedAt));
            return CompletableFuture.completedFuture(new Replay(
                    replay.result(),
                    new Claim.Kept(replay.kept().endedAt(), replay.kept().until(), left)));
        }
        return super.claim(request).thenApply(claim -> keep(request, claim, askedAt));
    }

    @Override
    public List<CompletionStage<Claim>> claimAll(List<ClaimRequest> requests) {
        long askedAt = ticker.read();
        List<CompletionStage<Claim>> claims = store().claimAll(requests);
        List<CompletionStage<Claim>> kept = new ArrayList<>(claims.size());
        for (int i = 0; i < claims.size(); i++) {
            ClaimRequest request = requests.get(i);
            kept.add(claims.get(i).thenApply(claim -> keep(request, claim, askedAt)));
        }
        return kept;
    }

    private Claim keep(ClaimRequest request, Claim claim, long askedAt) {
        if (claim instanceof Replay replay && !replay.kept().answersFor().isZero()) {
            Duration answersFor = replay.kept().answersFor();
            Duration holds = answersFor.compareTo(atMost) < 0 ? answersFor : atMost;
            Recalled recalled = new Recalled(request.id(), replay);
            cache.put(request.key(), new Kept(request.fingerprint(), recalled, askedAt, holds.toNanos()));
        }
        return claim;
    }

    @Override
    public Store forBlockingCallers() {
        return new NearCache(store().forBlockingCallers(), cache, atMost, ticker);
    }

    /** Collects the settings of a {@link NearCache}. Not safe for use by many threads. */
    public static final class Builder {
        private final Store store;
        private long mostBytes = 32L << 20;
        private Duration atMost = Duration.ofSeconds(60);
        private Ticker ticker = Ticker.systemTicker();

        private Builder(Store store) {
            this.store = store;
        }

        /** How much memory the results may take, about. 32 MiB unless set. */
        public Builder mostBytes(long bytes) {
            if (bytes < 1) {
                throw new IllegalArgumentException("mostBytes is " + bytes + "; at least 1 is needed");
            }
            this.mostBytes = bytes;
            return this;
        }

        /** How long a result stays, at most; less if the store no longer answers with it. 60 s unless set. */
        public Builder atMost(Duration atMost) {
            this.atMost = Durations.requirePositive(atMost, "atMost");
            return this;
        }

        Builder ticker(Ticker ticker) {
            this.ticker = ticker;
            return this;
        }

        public NearCache build() {
            Cache<OperationKey, Kept> cache = Caffeine.newBuilder()
                    .maximumWeight(mostBytes)
                    .weigher((OperationKey key, Kept kept) -> kept.weight())
                    .expireAfter(Expiry.writing(
                            (OperationKey key, Kept kept) -> Duration.ofNanos(Math.max(0, kept.left(ticker.read())))))
                    .ticker(ticker)
                    .executor(Runnable::run)
                    .build();
            return new NearCache(store, cache, atMost, ticker);
        }
    }
}
