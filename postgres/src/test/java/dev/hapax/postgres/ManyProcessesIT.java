package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.ChildJvm;
import dev.hapax.testkit.history.Event;
import dev.hapax.testkit.history.History;
import dev.hapax.testkit.history.HistoryChecker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many processes that send the same operations, left alone or killed. */
@Timeout(300)
class ManyProcessesIT {
    private static final int OPERATIONS = Integer.getInteger("hapax.operations", 2_000);

    private final TestDatabase database = TestDatabase.migrated();

    @TempDir
    Path histories;

    @BeforeEach
    void createLedger() {
        database.execute("CREATE TABLE ledger (key text NOT NULL, attempt int NOT NULL, owner text NOT NULL)");
    }

    @Test
    void everyHandlerRunsOnceAndEveryCallerGetsTheSameBytes() throws Exception {
        List<Worker.Plan> plans = new ArrayList<>();
        for (int share = 0; share < 3; share++) {
            int threads = share == 0 ? 22 : 21;
            plans.add(plan("worker-" + share, OPERATIONS, 5, share, 3, threads, Duration.ofSeconds(30), Duration.ZERO));
        }
        runToTheEnd(plans);

        assertThat(database.queryLong("SELECT count(*) FROM ledger")).isEqualTo(OPERATIONS);
        assertThat(database.queryLong("SELECT count(DISTINCT key) FROM ledger")).isEqualTo(OPERATIONS);
        History history = readHistories(plans);
        assertThat(history.events())
                .filteredOn(Event.Answered.class::isInstance)
                .hasSize(5 * OPERATIONS);
        HistoryChecker.assertClean(history);
    }

    @Test
    void operationsOfAKilledProcessAreTakenOverAfterTheLeaseWithAttemptTwo() throws Exception {
        Duration lease = Duration.ofSeconds(2);
        Worker.Plan victim = plan("victim", 100, 1, 0, 1, 16, lease, Duration.ofMillis(200));
        Worker.Plan heir = victim.sentAgainBy("heir", histories.resolve("heir"));
        killInTheMiddleOfHandlers(victim);
        Set<String> inFlight =
                Set.of(database.query("SELECT coalesce(string_agg(key, ','), '') FROM hapax_operation WHERE state = 1")
                        .split(","));
        runToTheEnd(List.of(heir));

        assertThat(inFlight).isNotEmpty().doesNotContain("");
        Set<String> secondAttempts = Set.of(
                database.query("SELECT string_agg(DISTINCT key, ',') FROM ledger WHERE attempt = 2 AND owner = 'heir'")
                        .split(","));
        assertThat(secondAttempts).isEqualTo(inFlight);
        assertThat(database.queryLong("SELECT count(*) FROM hapax_operation WHERE state = 2"))
                .isEqualTo(100);
        List<Event> events =
                new ArrayList<>(readHistories(List.of(victim, heir)).events());
        events.add(new Event.Abandoned("victim", System.nanoTime()));
        HistoryChecker.assertClean(History.of(events));
    }

    @Test
    void processesKilledAtRandomLoseNothingAndRunNoAttemptTwice() throws Exception {
        Duration lease = Duration.ofSeconds(1);
        int operations = OPERATIONS / 2;
        List<Worker.Plan> plans = new ArrayList<>();
        List<Event> events = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            Worker.Plan victim = plan("victim-" + round, operations, 2, round % 2, 2, 16, lease, Duration.ofMillis(10));
            plans.add(victim);
            killInTheMiddleOfHandlers(victim);
            events.add(new Event.Abandoned(victim.owner(), System.nanoTime()));
        }
        Worker.Plan heir = plans.get(0).sentAgainBy("heir", histories.resolve("heir"));
        plans.add(heir);
        runToTheEnd(List.of(heir));

        assertThat(database.queryLong("SELECT count(*) FROM hapax_operation WHERE state = 2"))
                .isEqualTo(operations);
        assertThat(database.queryLong("SELECT count(*) FROM ledger WHERE attempt > 1"))
                .isPositive();
        assertThat(database.queryLong("SELECT count(*) FROM (SELECT FROM ledger GROUP BY key, attempt"
                        + " HAVING count(*) > 1) AS twice"))
                .isZero();
        events.addAll(readHistories(plans).events());
        HistoryChecker.assertClean(History.of(events));
    }

    private Worker.Plan plan(
            String owner,
            int operations,
            int sends,
            int share,
            int shares,
            int threads,
            Duration lease,
            Duration handlerTime) {
        return new Worker.Plan(
                database.jdbcUrl(),
                owner,
                histories.resolve(owner),
                operations,
                sends,
                share,
                shares,
                threads,
                lease,
                handlerTime,
                true);
    }

    private void runToTheEnd(List<Worker.Plan> plans) throws Exception {
        List<ChildJvm> workers = new ArrayList<>();
        try {
            for (Worker.Plan plan : plans) {
                workers.add(ChildJvm.start(Worker.class, plan.toArguments()));
            }
            for (ChildJvm worker : workers) {
                worker.awaitLine("ready");
            }
            workers.forEach(worker -> worker.say("go"));
            for (ChildJvm worker : workers) {
                System.out.println(worker.awaitLine("done"));
            }
        } finally {
            workers.forEach(ChildJvm::close);
        }
    }

    private void killInTheMiddleOfHandlers(Worker.Plan plan) throws Exception {
        try (ChildJvm victim = ChildJvm.start(Worker.class, plan.toArguments())) {
            victim.awaitLine("ready");
            victim.say("go");
            int least = ThreadLocalRandom.current().nextInt(20, 100);
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(10))
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> database.queryLong("SELECT count(*) FROM ledger WHERE owner = '" + plan.owner() + "'")
                            >= least);
            victim.kill();
        }
    }

    private static History readHistories(List<Worker.Plan> plans) throws Exception {
        return History.read(plans.stream()
                .map(Worker.Plan::history)
                .collect(Collectors.toList())
                .toArray(Path[]::new));
    }
}
