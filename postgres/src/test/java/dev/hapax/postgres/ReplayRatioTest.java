package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.store.Claim;
import dev.hapax.store.Result;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplayRatioTest {
    private static final Claim.Kept KEPT = new Claim.Kept(Instant.EPOCH, Instant.EPOCH, Duration.ofHours(1));

    private final ReplayRatio ratio = new ReplayRatio();

    @Test
    void emptyBatchIsNotCounted() {
        ratio.learn(List.of());
        for (int i = 0; i < 10; i++) {
            ratio.learn(List.of(Decision.answer(new Claim.Replay(Result.timedOut(), KEPT))));
        }

        assertThat(ratio.isHigh()).isTrue();
    }
}
