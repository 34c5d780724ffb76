package dev.hapax.postgres;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.CallInterruptedException;
import dev.hapax.ClaimLostException;
import dev.hapax.Ending;
import dev.hapax.Hapax;
import dev.hapax.Lease;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.store.Payload;
import dev.hapax.store.Result;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.testkit.history.Event.Answered;
import dev.hapax.testkit.history.Event.Ran;
import dev.hapax.testkit.history.HistoryRecorder;
import dev.hapax.testkit.history.RecordingStore;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One of many processes that send the same operations: its share of all sends in random order, again and again until
 * each has its end. What it sees goes into a history.
 *
 * <p>Says {@code ready}, waits for a line, works, says {@code done} with counts.
 */
final class Worker {
    private final Plan plan;
    private final HikariDataSource pool;
    private final HistoryRecorder recorder;
    private final Hapax hapax;
    private final AtomicInteger executed = new AtomicInteger();
    private final AtomicInteger replayed = new AtomicInteger();
    private final AtomicInteger unavailable = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final AtomicInteger unrecorded = new AtomicInteger();

    /** What a worker is told on its command line. */
    record Plan(
            String jdbcUrl,
            String owner,
            Path history,
            int operations,
            int sends,
            int share,
            int shares,
            int threads,
            Duration lease,
            Duration handlerTime,
            boolean ledger) {

        List<String> toArguments() {
            return List.of(
                    jdbcUrl,
                    owner,
                    history.toString(),
                    "" + operations,
                    "" + sends,
                    "" + share,
                    "" + shares,
                    "" + threads,
                    lease.toString(),
                    handlerTime.toString(),
                    "" + ledger);
        }

        static Plan of(String[] it) {
            return new Plan(
                    it[0],
                    it[1],
                    Path.of(it[2]),
                    Integer.parseInt(it[3]),
                    Integer.parseInt(it[4]),
                    Integer.parseInt(it[5]),
                    Integer.parseInt(it[6]),
                    Integer.parseInt(it[7]),
                    Duration.parse(it[8]),
                    Duration.parse(it[9]),
                    Boolean.parseBoolean(it[10]));
        }

        Plan sentAgainBy(String otherOwner, Path otherHistory) {
            return new Plan(
                    jdbcUrl, otherOwner, otherHistory, operations, 1, 0, 1, threads, lease, Duration.ZERO, ledger);
        }
    }

    private Worker(Plan plan) throws Exception {
        this.plan = plan;
        this.pool = TestDatabase.pool(plan.jdbcUrl(), 8);
        this.recorder = HistoryRecorder.create(plan.history());
        Policy policy = Policy.defaults()
                .lease(plan.lease())
                .maxAttempts(100)
                .whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(5)));
        this.hapax = Hapax.on(new RecordingStore(PostgresStore.over(pool), recorder))
                .scope("storm", policy)
                .owner(plan.owner())
                .sweepEvery(Duration.ofSeconds(1))
                .build();
    }

    public static void main(String[] args) throws Exception {
        Worker worker = new Worker(Plan.of(args));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        in.readLine();
        worker.work();
        System.out.printf(
                "done executed=%s replayed=%s unavailable=%s lost=%s unrecorded=%s%n",
                worker.executed, worker.replayed, worker.unavailable, worker.lost, worker.unrecorded);
        System.exit(0);
    }

    private void work() throws InterruptedException {
        Queue<Integer> todo = new ConcurrentLinkedQueue<>(mySends());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < plan.threads(); i++) {
            Thread thread = new Thread(() -> {
                Integer operation;
                while ((operation = todo.poll()) != null) {
                    sendUntilAnswered("op-" + operation);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Every worker shuffles all sends alike and takes its share of them. */
    private List<Integer> mySends() {
        List<Integer> all = new ArrayList<>();
        for (int send = 0; send < plan.sends(); send++) {
            for (int operation = 0; operation < plan.operations(); operation++) {
                all.add(operation);
            }
        }
        Collections.shuffle(all, new Random(plan.operations()));
        List<Integer> mine = new ArrayList<>();
        for (int i = plan.share(); i < all.size(); i += plan.shares()) {
            mine.add(all.get(i));
        }
        return mine;
    }

    private void sendUntilAnswered(String key) {
        while (!send(key)) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    private boolean send(String key) {
        try {
            Outcome<byte[]> outcome = hapax.scope("storm").key(key).run(lease -> handle(key, lease));
            return outcome.fold(
                    done -> {
                        executed.incrementAndGet();
                        if (!done.recorded()) {
                            unrecorded.incrementAndGet();
                            return false;
                        }
                        return answered(done.operationId().toString(), done.ending());
                    },
                    done -> {
                        replayed.incrementAndGet();
                        return answered(done.operationId().toString(), done.ending());
                    },
                    running -> false,
                    mismatch -> {
                        throw new IllegalStateException("mismatch: " + key);
                    },
                    inDoubt -> {
                        throw new IllegalStateException("in doubt: " + key);
                    });
        } catch (StoreUnavailableException | SQLException | CallInterruptedException e) {
            unavailable.incrementAndGet();
        } catch (ClaimLostException e) {
            lost.incrementAndGet();
        }
        return false;
    }

    private boolean answered(String operation, Ending<byte[]> ending) {
        Result result = Result.completed(Payload.of(ending.value()));
        recorder.record(new Answered(operation, RecordingStore.digest(result), System.nanoTime()));
        return true;
    }

    private byte[] handle(String key, Lease lease) throws SQLException {
        recorder.record(
                new Ran(lease.operationId().toString(), lease.token().toString(), lease.attempt(), System.nanoTime()));
        if (!plan.handlerTime().isZero()) {
            LockSupport.parkNanos(
                    ThreadLocalRandom.current().nextLong(2 * plan.handlerTime().toNanos()));
        }
        if (plan.ledger()) {
            writeLedger(key, lease);
        }
        return UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8);
    }

    private void writeLedger(String key, Lease lease) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO ledger (key, attempt, owner) VALUES (?, ?, ?)")) {
            insert.setString(1, key);
            insert.setInt(2, lease.attempt());
            insert.setString(3, plan.owner());
            insert.executeUpdate();
        }
    }
}
