package dev.hapax.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.history.Violation.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Many simulated runs of a correct store, as they were and with one thing made wrong. */
class RandomHistoriesTest {
    /** What a history shows; the other kinds are plain to see where they happen. */
    private static final Kind[] JUDGED = {
        Kind.TWO_OWNERS,
        Kind.TWO_RESULTS,
        Kind.STALE_OWNER,
        Kind.NEVER_ENDED,
        Kind.RAN_TWICE,
        Kind.ATTEMPT_NOT_HIGHER,
        Kind.UNEXPLAINED_ANSWER,
        Kind.CLAIMED_AFTER_COMPLETION,
        Kind.BEGAN_TOO_LATE,
        Kind.HELD_TOO_LONG
    };

    private static final int RUNS = 1_000;

    private final long seed = new Random().nextLong();

    @Test
    void whatACorrectStoreShowsIsNeverReported() {
        for (int i = 0; i < RUNS; i++) {
            History history = run(i);

            assertThat(HistoryChecker.check(history))
                    .as("run %d of seed %d", i, seed)
                    .isEmpty();
        }
    }

    @Test
    void theWeatherIsBad() {
        Map<Class<?>, Long> seen = Stream.iterate(0, i -> i + 1)
                .limit(RUNS)
                .flatMap(i -> run(i).events().stream())
                .collect(Collectors.groupingBy(Event::getClass, Collectors.counting()));

        assertThat(seen)
                .as("seed %d", seed)
                .containsKeys(Event.Refused.class, Event.Released.class, Event.Renewed.class, Event.Abandoned.class);
    }

    @Test
    void whateverIsMadeWrongIsFound() {
        Map<Kind, Integer> tried = new EnumMap<>(Kind.class);
        for (int i = 0; i < RUNS; i++) {
            History history = run(i);
            for (Kind kind : JUDGED) {
                Optional<List<Event>> wrong = new Mutation(history.events()).make(kind);
                if (wrong.isPresent()) {
                    tried.merge(kind, 1, Integer::sum);
                    assertThat(HistoryChecker.check(History.of(wrong.get())))
                            .as("%s in run %d of seed %d", kind, i, seed)
                            .extracting(Violation::kind)
                            .contains(kind);
                }
            }
        }
        assertThat(tried).as("seed %d", seed).containsOnlyKeys(JUDGED);
    }

    private History run(int number) {
        return SimulatedRun.of(new Random(seed + number));
    }

    /** One lie told about a true history, where there is room for it. */
    private record Mutation(List<Event> truth) {

        Optional<List<Event>> make(Kind kind) {
            return switch (kind) {
                case TWO_OWNERS ->
                    first(Event.Claimed.class).filter(this::isHeldForAWhile).map(c -> plus(rival(c)));
                case TWO_RESULTS ->
                    first(Event.Completed.class)
                            .map(c -> plus(new Event.Completed(c.operation(), c.token(), "lie", c.call())));
                case STALE_OWNER -> overtakenCompletion().map(r -> instead(r, accepted(r)));
                case NEVER_ENDED ->
                    first(Event.Completed.class)
                            .filter(c -> isLastClaim(c.token(), c.operation()))
                            .map(this::withoutEnd);
                case RAN_TWICE ->
                    first(Event.Ran.class)
                            .map(r -> plus(new Event.Ran(r.operation(), r.token(), r.attempt(), r.at() + 1)));
                case ATTEMPT_NOT_HIGHER ->
                    all(Event.Claimed.class)
                            .filter(c -> c.attempt() > 1 && hasSureFirstAttempt(c))
                            .findFirst()
                            .map(c -> instead(c, withAttempt(c, 0)));
                case UNEXPLAINED_ANSWER ->
                    first(Event.Answered.class).map(a -> plus(new Event.Answered(a.operation(), "lie", a.at())));
                case CLAIMED_AFTER_COMPLETION -> first(Event.Completed.class).map(c -> plus(claimAfter(c)));
                case BEGAN_TOO_LATE -> first(Event.Ran.class).map(r -> plus(overBefore(r)));
                case HELD_TOO_LONG ->
                    first(Event.Ran.class)
                            .map(r -> plus(overBefore(r), new Event.Holding(r.operation(), r.token(), r.at())));
                default -> throw new IllegalArgumentException(kind + " is not told by a history");
            };
        }

        private <E extends Event> Stream<E> all(Class<E> type) {
            return truth.stream().filter(type::isInstance).map(type::cast);
        }

        private <E extends Event> Optional<E> first(Class<E> type) {
            return all(type).findFirst();
        }

        private List<Event> plus(Event... lies) {
            List<Event> events = new ArrayList<>(truth);
            events.addAll(List.of(lies));
            return events;
        }

        /** The only lease that the owner heard of, over before its handler began. */
        private static Event overBefore(Event.Ran run) {
            long longBefore = run.at() - 10 * SimulatedRun.LEASE;
            return new Event.Granted(
                    run.operation(), run.token(), new Window(longBefore, longBefore), SimulatedRun.LEASE);
        }

        private List<Event> instead(Event fact, Event lie) {
            List<Event> events = new ArrayList<>(truth);
            events.set(events.indexOf(fact), lie);
            return events;
        }

        private boolean isHeldForAWhile(Event.Claimed claim) {
            boolean quicklyAnswered = claim.endedAt() - claim.startedAt() < SimulatedRun.LEASE / 2;
            return quicklyAnswered
                    && all(Event.OfToken.class)
                            .filter(e -> e.token().equals(claim.token()))
                            .filter(e -> !(e instanceof Event.Claimed
                                    || e instanceof Event.Ran
                                    || e instanceof Event.Renewed))
                            .allMatch(e -> e.startedAt() > claim.endedAt() + 10);
        }

        private static Event rival(Event.Claimed claim) {
            Window inside = new Window(claim.endedAt() + 1, claim.endedAt() + 5);
            return new Event.Claimed(
                    claim.operation(), "rival", "rival", claim.attempt() + 100, inside, SimulatedRun.LEASE);
        }

        private Optional<Event.Refused> overtakenCompletion() {
            return all(Event.Refused.class)
                    .filter(r -> r.step().equals("complete"))
                    .filter(r -> claimsOf(r.operation())
                            .filter(c -> c.call().surelyBefore(r.call()))
                            .anyMatch(c -> claimOf(r.token()).call().surelyBefore(c.call())))
                    .findFirst();
        }

        private static Event accepted(Event.Refused refused) {
            return new Event.Completed(refused.operation(), refused.token(), "late", refused.call());
        }

        private Stream<Event.Claimed> claimsOf(String operation) {
            return all(Event.Claimed.class).filter(c -> c.operation().equals(operation));
        }

        private Event.Claimed claimOf(String token) {
            return all(Event.Claimed.class)
                    .filter(c -> c.token().equals(token))
                    .findFirst()
                    .orElseThrow();
        }

        private boolean isLastClaim(String token, String operation) {
            return claimsOf(operation)
                    .allMatch(c -> c.token().equals(token)
                            || c.call().surelyBefore(claimOf(token).call()));
        }

        /** What is left when the owner lives on and forgets. */
        private List<Event> withoutEnd(Event.Completed completed) {
            return truth.stream()
                    .filter(e -> !(e instanceof Event.OfOperation o
                            && o.operation().equals(completed.operation())
                            && (e instanceof Event.Answered || e instanceof Event.Completed)))
                    .filter(e -> !(e instanceof Event.Abandoned))
                    .toList();
        }

        private boolean hasSureFirstAttempt(Event.Claimed claim) {
            return claimsOf(claim.operation()).anyMatch(c -> c.call().surelyBefore(claim.call()));
        }

        private static Event withAttempt(Event.Claimed claim, int attempt) {
            return new Event.Claimed(
                    claim.operation(), claim.token(), claim.owner(), attempt, claim.call(), claim.leaseNanos());
        }

        private static Event claimAfter(Event.Completed completed) {
            Window after = new Window(completed.endedAt() + 1, completed.endedAt() + 2);
            return new Event.Claimed(completed.operation(), "again", "again", 100, after, SimulatedRun.LEASE);
        }
    }
}
