package dev.hapax.messaging.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;

/**
 * Consumers in processes of their own, killed at random until most messages are done, while some messages were sent
 * twice.
 */
public final class Chaos {
    /** How many messages, unless {@code -Dhapax.messages} says otherwise. */
    public static final int MESSAGES = Integer.getInteger("hapax.messages", 1_500);

    private static final int CONSUMERS = 2;

    private final Class<?> main;
    private final List<String> arguments;
    private final TestDatabase database;
    private final int messages;
    private final int kills;
    private final Random random = new Random();

    public Chaos(Class<?> main, List<String> arguments, TestDatabase database, int messages) {
        this.messages = messages;
        this.kills = Math.max(4, messages / 1_000);
        this.main = main;
        this.arguments = arguments;
        this.database = database;
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
        List<ChildJvm> consumers = new ArrayList<>();
        long begun = System.nanoTime();
        try {
            for (int i = 0; i < CONSUMERS; i++) {
                consumers.add(start());
            }
            for (int kill = 1; kill <= kills; kill++) {
                killOne(consumers, kill);
            }
            Awaitility.await("all messages are done")
                    .atMost(Duration.ofMinutes(3))
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> allLive(consumers) && database.completed() == messages && drained.getAsBoolean());
        } finally {
            consumers.forEach(ChildJvm::close);
        }
        System.out.printf(
                "%s: %d messages, %d processes killed, %d effects, in %d s%n",
                arguments.get(arguments.size() - 1),
                messages,
                kills,
                database.effects(),
                Duration.ofNanos(System.nanoTime() - begun).toSeconds());
    }

    /** When some more have been handled. */
    private void killOne(List<ChildJvm> consumers, int kill) throws Exception {
        long progress = (long) messages * kill / (kills + 1) - random.nextInt(messages / (2 * kills));
        Awaitility.await("progress before kill " + kill)
                .atMost(Duration.ofMinutes(3))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> allLive(consumers) && database.keysWithEffects() >= progress);
        ChildJvm victim = consumers.remove(random.nextInt(consumers.size()));
        victim.kill();
        consumers.add(start());
    }

    private static boolean allLive(List<ChildJvm> consumers) {
        assertThat(consumers)
                .allSatisfy(it -> assertThat(it.isAlive())
                        .as("a consumer ended by itself")
                        .isTrue());
        return true;
    }

    private ChildJvm start() throws Exception {
        return ChildJvm.start(128, main, arguments);
    }
}
