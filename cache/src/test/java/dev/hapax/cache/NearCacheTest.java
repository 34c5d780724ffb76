package dev.hapax.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.Finish;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.WhenAbandoned;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class NearCacheTest {
    private static final Fingerprint REQUEST = Fingerprint.of(bytes("the request"));
    private static final Fingerprint OTHER_REQUEST = Fingerprint.of(bytes("another request"));
    private static final Result RESULT = Result.completed(Payload.of(bytes("the result")));

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final CountingStore store = new CountingStore(new MemoryStore(now::get));
    private final NearCache cache = cache(Duration.ofSeconds(60), 1 << 20);

    @Test
    void theFirstRepeatAsksTheStoreAndTheNextOnesDoNot() {
        ended("k", hours(1));
        int before = store.claims();

        for (int i = 0; i < 10; i++) {
            assertThat(result(claim("k", REQUEST, hours(1)))).isEqualTo(RESULT);
        }

        assertThat(store.claims() - before).isEqualTo(1);
    }

    @Test
    void anotherFingerprintIsAMismatchAlthoughTheResultIsInMemory() {
        ended("k", hours(1));
        claim("k", REQUEST, hours(1));

        assertThat(claim("k", OTHER_REQUEST, hours(1))).isEqualTo(new Claim.Mismatch());
        assertThat(cache.recall(key("k"), OTHER_REQUEST)).isNull();
    }

    @Test
    void neverAnswersOnceTheStoreWouldNot() {
        ended("k", Duration.ofSeconds(30));
        claim("k", REQUEST, Duration.ofSeconds(30));

        letPass(Duration.ofSeconds(30));

        assertThat(claim("k", REQUEST, Duration.ofSeconds(30))).isInstanceOf(Claim.Won.class);
    }

    @Test
    void neverAnswersBeyondTheWindowInWhichRepeatsCount() {
        ended("k", terms(hours(1), Duration.ofSeconds(5)));
        claim("k", REQUEST, hours(1));
        assertThat(cache.recall(key("k"), REQUEST)).isNotNull();

        letPass(Duration.ofSeconds(5));

        assertThat(cache.recall(key("k"), REQUEST)).isNull();
    }

    @Test
    void asksTheStoreAgainAfterAMinute() {
        ended("k", hours(1));
        claim("k", REQUEST, hours(1));
        int before = store.claims();

        letPass(Duration.ofSeconds(59));
        claim("k", REQUEST, hours(1));
        assertThat(store.claims() - before).isZero();

        letPass(Duration.ofSeconds(1));
        claim("k", REQUEST, hours(1));
        assertThat(store.claims() - before).isEqualTo(1);
    }

    @Test
    void holdsNoMoreThanItsWeight() {
        NearCache small = cache(Duration.ofSeconds(60), 10_000);
        for (int i = 0; i < 200; i++) {
            ended("k" + i, hours(1));
            join(small.claim(request("k" + i, REQUEST, terms(hours(1), hours(1)))));
        }

        int kept = 0;
        for (int i = 0; i < 200; i++) {
            kept += small.recall(key("k" + i), REQUEST) == null ? 0 : 1;
        }
        assertThat(kept).isPositive().isLessThan(40);
    }

    @Test
    void neverKeepsWhatHasNotEnded() {
        claim("running", REQUEST, hours(1));
        assertThat(claim("running", REQUEST, hours(1))).isInstanceOf(Claim.Running.class);

        assertThat(cache.recall(key("running"), REQUEST)).isNull();
    }

    @Test
    void isOnByItselfWhenItIsOnTheClassPath() {
        assertThat(claimsOfTenRepeats(Hapax.on(store))).isEqualTo(2);
    }

    @Test
    void canBeSwitchedOff() {
        assertThat(claimsOfTenRepeats(Hapax.on(store).withoutFronts())).isEqualTo(11);
    }

    @Test
    void isNotPutInFrontOfItself() {
        assertThat(new NearCacheFront().before(cache)).isSameAs(cache);
    }

    @Test
    void aSizeOfNothingIsRefused() {
        assertThatThrownBy(() -> NearCache.builder(store).mostBytes(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mostBytes is 0");
        assertThatThrownBy(() -> NearCache.builder(store).atMost(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("atMost");
    }

    /** One fresh call and ten repeats; the cache's real clock stands still long enough. */
    private int claimsOfTenRepeats(Hapax.Builder builder) {
        AtomicInteger ran = new AtomicInteger();
        try (Hapax hapax = builder.scope("s", Policy.payment()).withoutSweeper().build()) {
            for (int i = 0; i < 11; i++) {
                Outcome<byte[]> outcome = hapax.scope("s").key("once").run(lease -> {
                    ran.incrementAndGet();
                    return bytes("done");
                });
                assertThat(outcome).isInstanceOf(i == 0 ? Outcome.Executed.class : Outcome.Replayed.class);
            }
        }
        assertThat(ran).hasValue(1);
        return store.claims();
    }

    private NearCache cache(Duration atMost, long mostBytes) {
        return NearCache.builder(store)
                .atMost(atMost)
                .mostBytes(mostBytes)
                .ticker(() -> Duration.between(Instant.EPOCH, now.get()).toNanos())
                .build();
    }

    private void ended(String key, Duration retention) {
        ended(key, terms(retention, retention));
    }

    private void ended(String key, ClaimTerms terms) {
        ClaimRequest request = request(key, REQUEST, terms);
        assertThat(join(store.claim(request))).isEqualTo(new Claim.Won(1));
        join(store.finish(new Finish(request.id(), request.token(), RESULT, terms.retention())));
    }

    private Claim claim(String key, Fingerprint fingerprint, Duration retention) {
        return join(cache.claim(request(key, fingerprint, terms(retention, retention))));
    }

    private static Result result(Claim claim) {
        return ((Claim.Replay) claim).result();
    }

    private static ClaimRequest request(String key, Fingerprint fingerprint, ClaimTerms terms) {
        return new ClaimRequest(
                key(key).id(), key(key), fingerprint, UUID.randomUUID(), "test", terms, ClaimRequest.DEFAULT_TIMEOUT);
    }

    private static ClaimTerms terms(Duration retention, Duration window) {
        return new ClaimTerms(Duration.ofSeconds(30), retention, WhenAbandoned.RERUN, 10, window);
    }

    private static OperationKey key(String key) {
        return new OperationKey("", "s", key);
    }

    private static Duration hours(int hours) {
        return Duration.ofHours(hours);
    }

    private void letPass(Duration duration) {
        now.updateAndGet(instant -> instant.plus(duration));
    }

    private static <T> T join(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
