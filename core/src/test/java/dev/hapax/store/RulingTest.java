package dev.hapax.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RulingTest {
    private static final OperationKey KEY = new OperationKey("t", "s", "k");
    private static final Fingerprint SAME = Fingerprint.of(new byte[] {1});
    private static final Fingerprint OTHER = Fingerprint.of(new byte[] {2});
    private static final int MAX_ATTEMPTS = 3;

    @ParameterizedTest
    @CsvSource(textBlock = """
            # state,    fingerprint, deadline, whenAbandoned, attempt, ruling
            COMPLETED,  same,        ahead,    RERUN,         1,       replay
            COMPLETED,  other,       ahead,    RERUN,         1,       mismatch
            COMPLETED,  same,        passed,   RERUN,         1,       begin anew
            COMPLETED,  other,       passed,   RERUN,         1,       begin anew
            COMPLETED,  same,        now,      RERUN,         1,       begin anew
            COMPLETED,  same,        ahead,    PARK,          3,       replay
            FAILED,     same,        ahead,    RERUN,         1,       replay
            FAILED,     same,        ahead,    RERUN,         3,       replay
            FAILED,     other,       ahead,    RERUN,         1,       mismatch
            FAILED,     same,        passed,   RERUN,         3,       begin anew
            FAILED,     other,       passed,   RERUN,         1,       begin anew
            PROCESSING, same,        ahead,    RERUN,         1,       running
            PROCESSING, same,        ahead,    FAIL,          1,       running
            PROCESSING, same,        ahead,    PARK,          3,       running
            PROCESSING, other,       ahead,    RERUN,         1,       mismatch
            PROCESSING, same,        passed,   RERUN,         1,       take over
            PROCESSING, same,        now,      RERUN,         1,       take over
            PROCESSING, same,        passed,   RERUN,         2,       take over
            PROCESSING, same,        passed,   RERUN,         3,       exhausted
            PROCESSING, same,        passed,   RERUN,         9,       exhausted
            PROCESSING, same,        passed,   FAIL,          1,       abandoned
            PROCESSING, same,        passed,   FAIL,          3,       abandoned
            PROCESSING, same,        passed,   PARK,          1,       park
            PROCESSING, same,        passed,   PARK,          3,       park
            PROCESSING, other,       passed,   RERUN,         1,       mismatch
            PROCESSING, other,       passed,   FAIL,          1,       mismatch
            PROCESSING, other,       passed,   PARK,          1,       mismatch
            PENDING,    same,        ahead,    RERUN,         1,       take over
            PENDING,    same,        ahead,    FAIL,          1,       take over
            PENDING,    same,        ahead,    PARK,          2,       take over
            PENDING,    same,        ahead,    RERUN,         3,       exhausted
            PENDING,    same,        ahead,    FAIL,          3,       exhausted
            PENDING,    same,        ahead,    PARK,          3,       park
            PENDING,    other,       ahead,    RERUN,         1,       mismatch
            PENDING,    other,       passed,   RERUN,         1,       mismatch
            IN_DOUBT,   same,        ahead,    PARK,          1,       in doubt
            IN_DOUBT,   same,        ahead,    RERUN,         3,       in doubt
            IN_DOUBT,   other,       ahead,    PARK,          1,       mismatch
            """)
    void followsTheStates(
            State state, String fingerprint, String deadline, WhenAbandoned whenAbandoned, int attempt, String ruling) {
        Snapshot found = found(state, UUID.randomUUID(), remaining(deadline), whenAbandoned, attempt);

        assertThat(name(Ruling.on(claim(fingerprint.equals("same") ? SAME : OTHER), found)))
                .isEqualTo(ruling);
    }

    @ParameterizedTest
    @CsvSource({"ahead", "now", "passed"})
    void aClaimThatIsSentAgainWinsAgainWithTheSameAttempt(String deadline) {
        ClaimRequest claim = claim(SAME);
        Snapshot found = found(State.PROCESSING, claim.token(), remaining(deadline), WhenAbandoned.FAIL, 2);

        assertThat(Ruling.on(claim, found)).isEqualTo(new Ruling.Resume());
        assertThat(new Ruling.Resume().answer(found)).isEqualTo(new Claim.Won(2));
    }

    @Test
    void ourTokenDoesNotHelpAnotherFingerprint() {
        ClaimRequest claim = claim(OTHER);
        Snapshot found = found(State.PROCESSING, claim.token(), remaining("ahead"), WhenAbandoned.RERUN, 1);

        assertThat(Ruling.on(claim, found)).isEqualTo(new Ruling.Answer(new Claim.Mismatch()));
    }

    @Test
    void whoMeetsARunningOperationIsToldHowLongTheLeaseLasts() {
        Snapshot found = found(State.PROCESSING, UUID.randomUUID(), Duration.ofSeconds(7), WhenAbandoned.RERUN, 1);

        assertThat(Ruling.on(claim(SAME), found))
                .isEqualTo(new Ruling.Answer(new Claim.Running(Duration.ofSeconds(7))));
    }

    @Test
    void theStoredPolicyDecidesWhatBecomesOfAnAbandonedOperationNotTheClaimers() {
        Snapshot found = found(State.PROCESSING, UUID.randomUUID(), remaining("passed"), WhenAbandoned.PARK, 1);

        assertThat(claim(SAME).terms().whenAbandoned()).isEqualTo(WhenAbandoned.RERUN);
        assertThat(Ruling.on(claim(SAME), found)).isEqualTo(new Ruling.Park());
    }

    @Test
    void theAnswerToATakeOverIsTheNextAttempt() {
        Snapshot found = anything(4);

        assertThat(new Ruling.TakeOver().answer(found)).isEqualTo(new Claim.Won(5, 1, found.expiredLease()));
        assertThat(found.expiredLease()).isEqualTo(new ExpiredLease(KEY.id(), KEY, 4, "owner"));
    }

    @Test
    void theAnswerToABeginAnewIsTheFirstAttempt() {
        assertThat(new Ruling.BeginAnew().answer(anything(4))).isEqualTo(new Claim.Won(1, 2, null));
    }

    @Test
    void theAnswerToAFailIsTheFailure() {
        Result result = Result.abandoned();

        assertThat(((Claim.Replay) new Ruling.Fail(result).answer(anything(1))).result())
                .isEqualTo(result);
    }

    @Test
    void theAnswerToAParkIsInDoubt() {
        assertThat(new Ruling.Park().answer(anything(1))).isInstanceOf(Claim.InDoubt.class);
    }

    private static Snapshot anything(int attempt) {
        return found(State.PROCESSING, UUID.randomUUID(), remaining("passed"), WhenAbandoned.RERUN, attempt);
    }

    private static ClaimRequest claim(Fingerprint fingerprint) {
        ClaimTerms terms =
                new ClaimTerms(Duration.ofSeconds(30), Duration.ofDays(1), WhenAbandoned.RERUN, MAX_ATTEMPTS);
        return ClaimRequest.of(KEY, fingerprint, "claimer", terms);
    }

    private static Duration remaining(String deadline) {
        return switch (deadline) {
            case "ahead" -> Duration.ofNanos(1);
            case "now" -> Duration.ZERO;
            default -> Duration.ofNanos(-1);
        };
    }

    private static Snapshot found(
            State state, UUID token, Duration remaining, WhenAbandoned whenAbandoned, int attempt) {
        Instant now = Instant.EPOCH;
        Result result = switch (state) {
            case COMPLETED -> Result.completed(Payload.of(new byte[] {1}));
            case FAILED -> Result.failed(402, "declined");
            default -> null;
        };
        return new Snapshot(
                KEY.id(),
                KEY,
                state,
                SAME,
                token,
                new Snapshot.Attempts(attempt, 0, 1),
                "owner",
                new Snapshot.Terms(whenAbandoned, Duration.ofDays(1), null),
                new Snapshot.Times(now, now, result == null ? null : now, now.plus(remaining)),
                remaining,
                result);
    }

    private static String name(Ruling ruling) {
        if (ruling instanceof Ruling.TakeOver) {
            return "take over";
        } else if (ruling instanceof Ruling.BeginAnew) {
            return "begin anew";
        } else if (ruling instanceof Ruling.Park) {
            return "park";
        } else if (ruling instanceof Ruling.Fail fail) {
            return fail.result().equals(Result.abandoned()) ? "abandoned" : "exhausted";
        }
        return ((Ruling.Answer) ruling)
                .claim()
                .fold(
                        won -> "won",
                        replay -> "replay",
                        running -> "running",
                        mismatch -> "mismatch",
                        inDoubt -> "in doubt");
    }
}
