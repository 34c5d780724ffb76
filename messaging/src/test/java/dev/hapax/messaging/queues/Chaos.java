package dev.hapax.messaging.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Consumers in processes of their own, killed at random while they have messages in hand, until most messages are done.
 * About a fifth of the messages is sent twice.
 */
public final class Chaos {
    /** How many messages. Default: 600; {@code -Dhapax.messages} sets another number. */
    public static final int MESSAGES = Integer.getInteger("hapax.messages", 600);

    private static final int CONSUMERS = 2;
    private static final int FEWEST_KILLS = 3;

    private final Class<?> main;
    private final Plan plan;
    private final TestDatabase database;
    private final int kills;
    private final Random random = new Random();
    private final List<Worker> workers = new ArrayList<>();
    private int started;
    private long killedInHand;

    /** @param arguments of the broker: what a process gets after JDBC URL, owner and mode */
    public record Plan(int messages, Ledger.Mode mode, List<String> arguments) {}

    private record Worker(String owner, ChildJvm process) {}

    public Chaos(Class<?> main, Plan plan, TestDatabase database) {
        this.main = main;
        this.plan = plan;
        this.database = database;
        this.kills = Math.max(FEWEST_KILLS, plan.messages() / 1_000);
    }

    /** Every message once, and about a fifth of them again, somewhere later. */
    public static List<Integer> sends(int messages) {
        List<Integer> sends = new ArrayList<>();
        List<Integer> again = new ArrayList<>();
        Random random = new Random();
        for (int i = 0; i < messages; i++) {
            sends.add(i);
            if (random.nextInt(5) == 0) {
                again.add(i);
            }
            if (!again.isEmpty() && random.nextInt(5) == 0) {
                sends.add(again.remove(random.nextInt(again.size())));
            }
        }
        Collections.shuffle(again);
        sends.addAll(again);
        return sends;
    }

    /** @param drained whether the broker has nothing left */
    public void run(BooleanSupplier drained) throws Exception {
        long begun = System.nanoTime();
        try {
            for (int i = 0; i < CONSUMERS; i++) {
                start();
            }
            for (int kill = 1; kill <= kills; kill++) {
                killOne(kill);
            }
            Awaitility.await("all messages are done")
                    .atMost(Duration.ofMinutes(3))
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> allLive() && database.completed() == plan.messages() && drained.getAsBoolean());
        } finally {
            workers.forEach(it -> it.process().close());
        }
        System.out.printf(
                "%s: %d messages, %d processes killed with %d messages in hand, %d effects, %d redelivered,"
                        + " %d duplicates suppressed, %d attempts after the first, in %d s%n",
                plan.mode(),
                plan.messages(),
                kills,
                killedInHand,
                database.effects(),
                database.observed("redelivered"),
                database.observed("replayed"),
                database.observed("retried"),
                Duration.ofNanos(System.nanoTime() - begun).toSeconds());
        assertThatFaultsStruck();
    }

    /** A run in which nothing was interrupted or repeated would show nothing. */
    private void assertThatFaultsStruck() {
        assertThat(killedInHand).isGreaterThanOrEqualTo(kills);
        assertThat(database.observed("redelivered")).as("redelivered").isPositive();
        assertThat(database.observed("replayed")).as("duplicates suppressed").isPositive();
        assertThat(database.observed("retried")).as("attempts after the first").isPositive();
        if (plan.mode() == Ledger.Mode.LEASED) {
            assertThat(database.observed("leases_expired")).as("leases expired").isPositive();
        }
    }

    /** When some more have been handled; the process is stopped first, so that what it has in hand can be counted. */
    private void killOne(int kill) throws Exception {
        int step = plan.messages() / (kills + 1);
        long progress = (long) step * kill - random.nextInt(step / 2);
        Awaitility.await("progress before kill " + kill)
                .atMost(Duration.ofMinutes(3))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> allLive() && database.keysWithEffects() >= progress);
        Worker victim = Awaitility.await("a process with messages in hand")
                .pollInterval(Duration.ofMillis(5))
                .atMost(Duration.ofSeconds(60))
                .until(this::stopOneInHand, Objects::nonNull);
        workers.remove(victim);
        victim.process().kill();
        start();
    }

    private @Nullable Worker stopOneInHand() throws Exception {
        Worker victim = workers.get(random.nextInt(workers.size()));
        victim.process().signal("STOP");
        long inHand = database.inHand(victim.owner());
        if (inHand == 0) {
            victim.process().signal("CONT");
            return null;
        }
        killedInHand += inHand;
        return victim;
    }

    private boolean allLive() {
        assertThat(workers)
                .allSatisfy(it -> assertThat(it.process().isAlive())
                        .as("a consumer ended by itself")
                        .isTrue());
        return true;
    }

    private void start() throws Exception {
        String owner = "worker-" + ++started;
        List<String> arguments =
                new ArrayList<>(List.of(database.jdbcUrl(), owner, plan.mode().name()));
        arguments.addAll(plan.arguments());
        workers.add(new Worker(owner, ChildJvm.start(128, main, arguments)));
    }
}
