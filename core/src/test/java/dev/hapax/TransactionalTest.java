package dev.hapax;

import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.hapax.store.Claim;
import dev.hapax.store.ClaimRequest;
import dev.hapax.store.Finish;
import dev.hapax.store.Result;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreTransaction;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.store.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the engine asks of the caller's transaction, step by step. */
class TransactionalTest {
    private final World world = World.still();
    private final Hapax hapax = world.node(Policy.defaults());
    private final Steps transaction = new Steps();

    /** A transaction that writes down its steps. */
    private static final class Steps implements StoreTransaction {
        final List<String> steps = new ArrayList<>();
        Claim claim = new Claim.Won(1);
        Written written = Written.RECORDED;
        boolean undoFails;

        @Override
        public Claim claim(ClaimRequest request) {
            steps.add("claim");
            return claim;
        }

        @Override
        public void undo(UUID token) {
            steps.add("undo");
            if (undoFails) {
                throw new StoreException("cannot go back", null);
            }
        }

        @Override
        public Written finish(Finish finish) {
            steps.add("finish " + finish.result().state());
            return written;
        }
    }

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void theEffectAndItsRecordAreOneTransaction() {
        assertThat(executed(call().run(lease -> "receipt")).recorded()).isTrue();
        assertThat(transaction.steps).containsExactly("claim", "finish COMPLETED");
        assertThat(world.store.calls()).isZero();
    }

    @Test
    void aRetryableExceptionTakesTheEffectBackAndRecordsNothing() {
        IllegalStateException thrown = new IllegalStateException();

        assertThat(catchThrowable(() -> fail(thrown))).isSameAs(thrown);
        assertThat(transaction.steps).containsExactly("claim", "undo");
    }

    /** What was taken back is not unknown: a deadlock must not end the operation for good. */
    @Test
    void anUnknownOutcomeIsTakenBackAndNotRecorded() {
        Hapax failing = world.node(Policy.payment().whenAbandoned(WhenAbandoned.FAIL));
        IllegalStateException deadlock = new IllegalStateException("deadlock detected");

        assertThatThrownBy(() -> failing.transactional(transaction)
                        .scope("payments")
                        .key("k")
                        .runOnce(lease -> {
                            throw deadlock;
                        }))
                .isSameAs(deadlock);
        assertThat(transaction.steps).containsExactly("claim", "undo");
    }

    @Test
    void aRejectionTakesTheEffectBackAndIsRecorded() {
        assertThat(executed(fail(new TerminalFailure(402, "declined"))).recorded())
                .isTrue();
        assertThat(transaction.steps).containsExactly("claim", "undo", "finish FAILED");
    }

    /** Nobody may commit an effect that was rejected. */
    @Test
    void aRejectionWhoseEffectCannotBeTakenBackIsNotAnOutcome() {
        transaction.undoFails = true;

        assertThat(catchThrowable(() -> fail(new TerminalFailure(402, "declined"))))
                .isNotNull();
        assertThat(transaction.steps).doesNotContain("finish FAILED");
    }

    @Test
    void aClaimThatWasLostTakesTheEffectBack() {
        transaction.written = Written.CLAIM_LOST;

        assertThatThrownBy(() -> call().run(lease -> "receipt")).isInstanceOf(ClaimLostException.class);
        assertThat(transaction.steps).containsExactly("claim", "finish COMPLETED", "undo");
    }

    @Test
    void anOperationThatEndedIsReplayed() {
        transaction.claim = new Claim.Replay(
                Result.failed(402, "declined"), new Claim.Kept(Instant.EPOCH, Instant.EPOCH, Duration.ZERO));

        assertThat(replayed(call().run(mustNotRun())).ending().failure()).isPresent();
        assertThat(transaction.steps).containsExactly("claim");
    }

    @Test
    void runsOnOneThreadOnly() {
        assertThatIllegalStateException()
                .isThrownBy(() -> call().runAsync(lease -> CompletableFuture.completedFuture("receipt")));
    }

    @Test
    void needsADeclaredScopeToo() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> hapax.transactional(transaction).scope("paymnets"));
    }

    private Outcome<String> fail(RuntimeException thrown) {
        return call().run(lease -> {
            throw thrown;
        });
    }

    private Call<String> call() {
        return hapax.transactional(transaction).scope("payments").key("k").returning(String.class);
    }
}
