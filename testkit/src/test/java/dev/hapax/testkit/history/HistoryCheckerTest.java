package dev.hapax.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.testkit.history.Violation.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Times are milliseconds; every lease lasts 1000 of them, and the checker grants the store's clock 20. */
class HistoryCheckerTest {

    @Test
    void twoLeasesAtOneInstantAreTwoOwners() {
        assertViolations(
                Kind.TWO_OWNERS,
                claimed("a", 1, 0, 10),
                claimed("b", 2, 500, 510),
                answered("r", 520),
                sent("b", "r", 515));
    }

    @Test
    void concurrentClaimsThatBothWinAreTwoOwners() {
        assertViolations(Kind.TWO_OWNERS, claimed("a", 1, 0, 10), claimed("b", 2, 5, 15), completed("b", "r", 20, 21));
    }

    @Test
    void aClaimInsideAnotherLeaseIsASecondOwnerEvenIfItEndsAtOnce() {
        assertViolations(
                Kind.TWO_OWNERS,
                claimed("a", 1, 0, 10),
                claimed("b", 2, 500, 510),
                sent("b", "r", 510),
                completed("b", "r", 510, 511));
    }

    @Test
    void aRenewedLeaseIsStillHeld() {
        assertViolations(
                Kind.TWO_OWNERS,
                claimed("a", 1, 0, 10),
                renewed("a", 900, 910),
                claimed("b", 2, 1500, 1510),
                completed("b", "r", 1600, 1601));
    }

    @Test
    void aTakeOverAfterTheLeaseRanOutIsLegal() {
        assertClean(
                claimed("a", 1, 0, 10),
                claimed("b", 2, 1000, 1015),
                sent("a", "ra", 1100),
                refused("a", 1100, 1110),
                completed("b", "rb", 1200, 1210),
                answered("rb", 1210));
    }

    @Test
    void aTakeOverAsSoonAsTheStoresClockMayAllowItIsLegal() {
        assertClean(claimed("a", 1, 0, 10), claimed("b", 2, 970, 985), completed("b", "r", 990, 991));
    }

    @Test
    void aClockThatMayJumpFurtherExcusesAnEarlierTakeOver() {
        History history = History.of(claimed("a", 1, 0, 10), claimed("b", 2, 500, 510), completed("b", "r", 990, 991));

        assertThat(HistoryChecker.check(history)).hasSize(1);
        assertThat(HistoryChecker.check(history, Duration.ofSeconds(2))).isEmpty();
    }

    @Test
    void aTakeOverBeforeTheLateAnswerToAClaimThatHasLapsedIsLegal() {
        assertClean(claimed("a", 1, 0, 1500), claimed("b", 2, 1200, 1210), completed("b", "r", 1600, 1610));
    }

    @Test
    void aClaimWhileTheOwnerMayHaveReleasedIsLegal() {
        assertClean(
                claimed("a", 1, 0, 10), releasing("a", 100), claimed("b", 2, 105, 110), completed("b", "r", 120, 121));
    }

    @Test
    void aClaimAfterAReleaseIsLegal() {
        assertClean(
                claimed("a", 1, 0, 10),
                released("a", 100, 110),
                claimed("b", 2, 105, 112),
                completed("b", "r", 120, 121));
    }

    @Test
    void aCompletionAfterAnotherTookOverIsStale() {
        assertViolations(
                Kind.STALE_OWNER, claimed("a", 1, 0, 10), claimed("b", 2, 1010, 1020), completed("a", "r", 1100, 1110));
    }

    @Test
    void aRenewalAfterAnotherTookOverIsStale() {
        assertViolations(
                Kind.STALE_OWNER,
                claimed("a", 1, 0, 10),
                claimed("b", 2, 1010, 1020),
                released("b", 1030, 1040),
                renewed("a", 1100, 1110));
    }

    @Test
    void aCompletionByOneWhoNeverClaimedIsStale() {
        assertViolations(Kind.STALE_OWNER, completed("a", "r", 10, 20));
    }

    @Test
    void aLateCompletionThatNobodyOvertookIsLegal() {
        assertClean(claimed("a", 1, 0, 10), completed("a", "r", 5000, 5010));
    }

    @Test
    void aCompletionThatMayHaveComeBeforeTheTakeOverIsNotCalledStale() {
        assertThat(kinds(
                        claimed("a", 1, 0, 10),
                        released("a", 1005, 1100),
                        claimed("b", 2, 1010, 1020),
                        completed("b", "r", 1030, 1040)))
                .isEmpty();
    }

    @Test
    void twoStoredResultsAreTwoResults() {
        assertViolations(
                Kind.TWO_RESULTS, claimed("a", 1, 0, 10), completed("a", "r1", 20, 30), completed("a", "r2", 40, 50));
    }

    @Test
    void twoAnswersThatDifferAreTwoResults() {
        assertViolations(
                Kind.TWO_RESULTS,
                claimed("a", 1, 0, 10),
                sent("a", "r1", 20),
                sent("a", "r2", 20),
                answered("r1", 40),
                answered("r2", 50));
    }

    @Test
    void theSameResultStoredTwiceByOneTokenIsLegal() {
        assertClean(
                claimed("a", 1, 0, 10), completed("a", "r", 20, 30), completed("a", "r", 40, 50), answered("r", 60));
    }

    @Test
    void aRefusedResultIsNoSecondResult() {
        assertClean(
                claimed("a", 1, 0, 10),
                claimed("b", 2, 1010, 1020),
                sent("a", "r1", 1030),
                refused("a", 1030, 1040),
                completed("b", "r2", 1050, 1060),
                answered("r2", 1070));
    }

    @Test
    void anAnswerNobodySentIsUnexplained() {
        assertViolations(Kind.UNEXPLAINED_ANSWER, claimed("a", 1, 0, 10), answered("r", 20));
    }

    @Test
    void anAnswerBeforeItsResultWasSentIsUnexplained() {
        assertViolations(Kind.UNEXPLAINED_ANSWER, claimed("a", 1, 0, 10), answered("r", 20), sent("a", "r", 30));
    }

    @Test
    void anAnswerFromACompletionWhoseRecordDiedWithItsProcessIsLegal() {
        assertClean(claimed("a", 1, 0, 10), sent("a", "r", 20), killed("a", 21), answered("r", 30));
    }

    @Test
    void aClaimThatNobodyEndsNeverEnds() {
        assertViolations(Kind.NEVER_ENDED, claimed("a", 1, 0, 10));
    }

    @Test
    void anAbandonedClaimThatNobodyTakesOverNeverEnds() {
        assertViolations(
                Kind.NEVER_ENDED, claimed("a", 1, 0, 10), killed("a", 100), new Event.GivenUp("another", ms(1200)));
    }

    @Test
    void anAbandonedClaimWhoseLeaseOutlivesTheRunIsLegal() {
        assertClean(claimed("a", 1, 0, 10), killed("a", 100), new Event.GivenUp("another", ms(1050)));
    }

    @Test
    void aReleaseIsUndoneByALaterClaim() {
        assertViolations(Kind.NEVER_ENDED, claimed("a", 1, 0, 10), released("a", 20, 30), claimed("b", 2, 40, 50));
        assertClean(claimed("a", 1, 0, 10), released("a", 20, 30));
    }

    @Test
    void beingGivenUpIsAnEnd() {
        assertClean(claimed("a", 1, 0, 10), new Event.GivenUp("op", ms(2000)));
    }

    @Test
    void twoRunsOfOneAttemptAreReported() {
        assertViolations(
                Kind.RAN_TWICE, claimed("a", 1, 0, 10), ran("a", 1, 20), ran("a", 1, 30), completed("a", "r", 40, 50));
    }

    @Test
    void oneRunForEachAttemptIsLegal() {
        assertClean(
                claimed("a", 1, 0, 10),
                ran("a", 1, 20),
                claimed("b", 2, 1010, 1020),
                ran("b", 2, 1030),
                completed("b", "r", 1040, 1050));
    }

    @Test
    void anAttemptNumberThatFallsIsReported() {
        assertViolations(
                Kind.ATTEMPT_NOT_HIGHER,
                claimed("a", 2, 0, 10),
                claimed("b", 1, 1010, 1020),
                completed("b", "r", 1030, 1040));
    }

    @Test
    void anAttemptNumberGivenTwiceIsReported() {
        assertViolations(
                Kind.ATTEMPT_NOT_HIGHER,
                claimed("a", 1, 0, 2000),
                claimed("b", 1, 1010, 1020),
                completed("b", "r", 1030, 1040));
    }

    @Test
    void numbersMayBeMissingAndMayFallBetweenClaimsWhoseOrderIsUnknown() {
        assertClean(claimed("a", 5, 0, 2500), claimed("b", 2, 1010, 1020), completed("a", "r", 2600, 2610));
    }

    @Test
    void aClaimSentAgainAndRecordedTwiceIsLegal() {
        assertClean(claimed("a", 1, 0, 10), claimed("a", 1, 0, 30), completed("a", "r", 40, 50));
    }

    @Test
    void aClaimAfterTheCompletionIsReported() {
        assertViolations(
                Kind.CLAIMED_AFTER_COMPLETION,
                claimed("a", 1, 0, 10),
                completed("a", "r", 20, 30),
                claimed("b", 2, 40, 50));
    }

    @Test
    void operationsDoNotMix() {
        assertClean(
                claimed("a", 1, 0, 10),
                completed("a", "r", 20, 30),
                new Event.Claimed("other", "b", "b", 1, window(5, 15), ms(1000)),
                new Event.Completed("other", "b", "r2", window(20, 30)));
    }

    @Test
    void aReportNamesTheOperationAndStopsAtTwenty() {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            events.add(new Event.Claimed("op-" + i, "t", "o", 1, window(i, i + 1), ms(10)));
        }

        assertThatThrownBy(() -> HistoryChecker.assertClean(History.of(events)))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("25 violations")
                .hasMessageContaining("NEVER_ENDED in op-19")
                .hasMessageNotContaining("op-20");
    }

    @Test
    @Timeout(10)
    void halfAMillionEventsOfManyOperationsTakeSeconds() {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            String operation = "op-" + i;
            events.add(new Event.Claimed(operation, "t" + i, "o", 1, window(i, i + 1), ms(1000)));
            events.add(new Event.Ran(operation, "t" + i, 1, ms(i + 2)));
            events.add(new Event.Completing(operation, "t" + i, "r", ms(i + 3)));
            events.add(new Event.Completed(operation, "t" + i, "r", window(i + 3, i + 4)));
            events.add(new Event.Answered(operation, "r", ms(i + 5)));
        }

        assertClean(events.toArray(new Event[0]));
    }

    @Test
    @Timeout(10)
    void halfAMillionEventsOfOneOperationTakeSeconds() {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 166_000; i++) {
            long at = i * 10L;
            events.add(claimed("t" + i, i + 1, at, at + 2));
            events.add(releasing("t" + i, at + 4));
            events.add(released("t" + i, at + 4, at + 6));
        }

        assertClean(events.toArray(new Event[0]));
    }

    private static void assertViolations(Kind kind, Event... events) {
        assertThat(kinds(events)).contains(kind);
    }

    private static void assertClean(Event... events) {
        assertThatCode(() -> HistoryChecker.assertClean(History.of(events))).doesNotThrowAnyException();
    }

    private static List<Kind> kinds(Event... events) {
        return HistoryChecker.check(History.of(events)).stream()
                .map(Violation::kind)
                .toList();
    }

    private static Event claimed(String token, int attempt, long called, long answered) {
        return new Event.Claimed("op", token, token, attempt, window(called, answered), ms(1000));
    }

    private static Event renewed(String token, long called, long answered) {
        return new Event.Renewed("op", token, window(called, answered), ms(1000));
    }

    private static Event ran(String token, int attempt, long at) {
        return new Event.Ran("op", token, attempt, ms(at));
    }

    private static Event sent(String token, String result, long at) {
        return new Event.Completing("op", token, result, ms(at));
    }

    private static Event completed(String token, String result, long called, long answered) {
        return new Event.Completed("op", token, result, window(called, answered));
    }

    private static Event releasing(String token, long at) {
        return new Event.Releasing("op", token, ms(at));
    }

    private static Event released(String token, long called, long answered) {
        return new Event.Released("op", token, window(called, answered));
    }

    private static Event refused(String token, long called, long answered) {
        return new Event.Refused("op", token, "complete", window(called, answered));
    }

    private static Event answered(String result, long at) {
        return new Event.Answered("op", result, ms(at));
    }

    private static Event killed(String owner, long at) {
        return new Event.Abandoned(owner, ms(at));
    }

    private static Window window(long called, long answered) {
        return new Window(ms(called), ms(answered));
    }

    private static long ms(long millis) {
        return millis * 1_000_000;
    }
}
