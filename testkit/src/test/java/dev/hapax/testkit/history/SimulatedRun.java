package dev.hapax.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A run of a correct store, in simulated time, under bad weather: calls take their time both ways, owners stop for
 * longer than their lease, processes die between any two steps and leave their requests under way.
 */
final class SimulatedRun {

    static final long LEASE = TimeUnit.MILLISECONDS.toNanos(1000);
    private static final int OPERATIONS = 3;
    private static final int CALLERS = 6;

    private final Random random;
    private final List<Event> events = new ArrayList<>();
    private final PriorityQueue<Step> agenda = new PriorityQueue<>(Comparator.comparingLong(Step::at));
    private final List<Row> rows = new ArrayList<>();
    private long now;
    private int minted;

    private record Step(long at, Runnable action) {}

    /** What the store knows of one operation. */
    private static final class Row {
        final String operation;
        String token = "";
        String result = "";
        int attempt;
        long deadline;

        Row(String operation) {
            this.operation = operation;
        }

        boolean isOwnedBy(String owner) {
            return result.isEmpty() && token.equals(owner);
        }

        boolean isFree(long now) {
            return result.isEmpty() && (token.isEmpty() || deadline < now);
        }
    }

    private SimulatedRun(Random random) {
        this.random = random;
    }

    static History of(Random random) {
        SimulatedRun run = new SimulatedRun(random);
        for (int i = 0; i < OPERATIONS; i++) {
            run.rows.add(new Row("op-" + i));
        }
        for (int i = 0; i < CALLERS; i++) {
            Row row = run.rows.get(i % OPERATIONS);
            // The first callers are immortal and ask until they have their answer; so every operation ends.
            run.new Caller("p" + i, row, i >= OPERATIONS).ask();
        }
        run.play();
        return History.of(run.events);
    }

    private void play() {
        while (!agenda.isEmpty()) {
            Step step = agenda.remove();
            now = step.at();
            step.action().run();
        }
    }

    private void later(long atMostMillis, Runnable action) {
        agenda.add(new Step(now + 1 + (long) (random.nextDouble() * atMostMillis * 1_000_000), action));
    }

    /** Mostly quick, now and then longer than a lease. */
    private long transit() {
        return random.nextInt(10) == 0 ? 1500 : 20;
    }

    private final class Caller {

        final String owner;
        final Row row;
        final boolean mortal;
        boolean dead;
        String token = "";
        int attempt;

        Caller(String owner, Row row, boolean mortal) {
            this.owner = owner;
            this.row = row;
            this.mortal = mortal;
        }

        /** The next step of this caller's own, unless it dies before it. */
        void then(long atMostMillis, Runnable action) {
            later(atMostMillis, () -> {
                if (mortal && !dead && random.nextInt(12) == 0) {
                    dead = true;
                    events.add(new Event.Abandoned(owner, now));
                }
                if (!dead) {
                    action.run();
                }
            });
        }

        interface Reply<T> {
            void got(T answer, Window call);
        }

        <T> void call(Supplier<T> effect, Reply<T> reply) {
            long calledAt = now;
            later(transit(), () -> {
                T answer = effect.get();
                then(transit(), () -> reply.got(answer, new Window(calledAt, now)));
            });
        }

        void ask() {
            then(3000, () -> {
                token = "t" + ++minted;
                String mine = token;
                call(() -> claim(mine), this::onClaim);
            });
        }

        private int claim(String mine) {
            if (!row.isFree(now)) {
                return 0;
            }
            row.token = mine;
            row.deadline = now + LEASE;
            return ++row.attempt;
        }

        private void onClaim(int won, Window call) {
            if (won > 0) {
                attempt = won;
                events.add(new Event.Claimed(row.operation, token, owner, won, call, LEASE));
                then(5, this::run);
            } else {
                call(() -> row.result, this::onLook);
            }
        }

        private void onLook(String result, Window call) {
            if (result.isEmpty()) {
                ask();
            } else {
                events.add(new Event.Answered(row.operation, result, now));
            }
        }

        private void run() {
            events.add(new Event.Ran(row.operation, token, attempt, now));
            int pause = random.nextInt(4) == 0 ? 4000 : 600;
            switch (random.nextInt(4)) {
                case 0 -> then(pause, this::renew);
                case 1 -> then(pause, this::release);
                default -> then(pause, this::complete);
            }
        }

        private void renew() {
            call(() -> row.isOwnedBy(token) && extend(), (accepted, call) -> {
                if (accepted) {
                    events.add(new Event.Renewed(row.operation, token, call, LEASE));
                    then(1500, this::complete);
                } else {
                    lost("renew", call);
                }
            });
        }

        private boolean extend() {
            row.deadline = now + LEASE;
            return true;
        }

        private void release() {
            events.add(new Event.Releasing(row.operation, token, now));
            call(() -> row.isOwnedBy(token) && free(), (accepted, call) -> {
                if (accepted) {
                    events.add(new Event.Released(row.operation, token, call));
                    ask();
                } else {
                    lost("release", call);
                }
            });
        }

        private boolean free() {
            row.token = "";
            return true;
        }

        private void complete() {
            String result = "r" + attempt;
            events.add(new Event.Completing(row.operation, token, result, now));
            call(() -> row.isOwnedBy(token) && store(result), (accepted, call) -> {
                if (accepted) {
                    events.add(new Event.Completed(row.operation, token, result, call));
                    events.add(new Event.Answered(row.operation, result, now));
                } else {
                    lost("complete", call);
                }
            });
        }

        private boolean store(String result) {
            row.result = result;
            return true;
        }

        private void lost(String step, Window call) {
            events.add(new Event.Refused(row.operation, token, step, call));
            ask();
        }
    }
}
