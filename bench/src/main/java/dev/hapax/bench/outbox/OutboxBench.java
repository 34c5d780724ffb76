package dev.hapax.bench.outbox;

import dev.hapax.embedded.postgres.EmbeddedPostgres;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;

/**
 * Messages delivered per second by our outbox and by gruelbox's transaction-outbox, taking turns on one PostgreSQL that
 * syncs to disk. gruelbox gets as many workers as serve it best here, found before anything is measured.
 */
public final class OutboxBench {
    private static final List<Integer> WORKERS = List.of(4, 8, 16, 32, 64);
    private static final int PROBE = 3_000;
    private static final int WARM_UP = 5_000;
    private static final double BAR = 2;

    private static final String HELP = """
            Measures the outbox beside gruelbox's transaction-outbox, on a PostgreSQL of its own, and prints ratios.

            usage: ./hapax bench outbox [--quick] [--help]

              --quick  10,000 messages instead of 100,000: about a minute instead of five
            """;

    private final EmbeddedPostgres server;
    private final int messages;
    private final int rounds;

    private OutboxBench(EmbeddedPostgres server, boolean quick) {
        this.server = server;
        this.messages = quick ? 10_000 : 100_000;
        this.rounds = quick ? 2 : 1;
    }

    public static void main(String[] args) throws Exception {
        List<String> options = List.of(args);
        if (options.contains("--help")) {
            System.out.print(HELP);
            return;
        }
        if (!List.of("--quick").containsAll(options)) {
            System.err.print(HELP);
            System.exit(2);
        }
        try (EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setting("fsync", "on")
                .setting("synchronous_commit", "on")
                .setting("full_page_writes", "on")
                .setting("max_connections", "200")
                .start()) {
            new OutboxBench(server, options.contains("--quick")).run();
        }
    }

    private void run() throws SQLException, InterruptedException, ExecutionException {
        int workers = bestWorkers();
        List<Double> ourLive = new ArrayList<>();
        List<Double> theirLive = new ArrayList<>();
        List<Double> ourBacklog = new ArrayList<>();
        List<Double> theirBacklog = new ArrayList<>();
        try (Side ours = new HapaxSide(server.jdbcUrl(), Delivering.APPENDERS + 2);
                Side theirs = new GruelboxSide(server.jdbcUrl(), Delivering.APPENDERS, workers)) {
            Delivering hapax = new Delivering(ours);
            Delivering gruelbox = new Delivering(theirs);
            say("warming up");
            hapax.live(WARM_UP);
            gruelbox.live(WARM_UP);
            for (int round = 1; round <= rounds; round++) {
                say("round %d of %d", round, rounds);
                ourLive.add(hapax.live(messages));
                theirLive.add(gruelbox.live(messages));
                ourBacklog.add(hapax.backlog(messages));
                theirBacklog.add(gruelbox.backlog(messages));
            }
        }
        System.out.printf(
                "%nMessages delivered per second, %,d messages of 300 bytes, best of %d.%n", messages, rounds);
        System.out.printf(
                "%d transactions at a time append 20 each; gruelbox has %d workers, hapax one relay.%n%n",
                Delivering.APPENDERS, workers);
        System.out.printf("%-34s %10s %10s %7s %5s%n", "", "hapax", "gruelbox", "ratio", "bar");
        row("a backlog delivered", ourBacklog, theirBacklog, true);
        row("appended and delivered at once", ourLive, theirLive, false);
    }

    private int bestWorkers() throws SQLException, InterruptedException, ExecutionException {
        int best = 0;
        double most = 0;
        for (int workers : WORKERS) {
            try (Side side = new GruelboxSide(server.jdbcUrl(), Delivering.APPENDERS, workers)) {
                Delivering gruelbox = new Delivering(side);
                gruelbox.live(PROBE);
                double rate = gruelbox.live(PROBE);
                say("gruelbox with %d workers: %,.0f/s", workers, rate);
                if (rate > most) {
                    most = rate;
                    best = workers;
                }
            }
        }
        return best;
    }

    /** @param bar whether there is one: where both sides also append, they pay for the same appends */
    private static void row(String name, List<Double> ours, List<Double> theirs, boolean bar) {
        double hapax = ours.stream().mapToDouble(it -> it).max().orElseThrow();
        double gruelbox = theirs.stream().mapToDouble(it -> it).max().orElseThrow();
        double ratio = hapax / gruelbox;
        String verdict = String.format(Locale.ROOT, " %5.1f  %s", BAR, ratio >= BAR ? "met" : "not met");
        System.out.printf(
                Locale.ROOT, "%-34s %,10.0f %,10.0f %7.2f%s%n", name, hapax, gruelbox, ratio, bar ? verdict : "");
    }

    private static void say(String format, Object... arguments) {
        System.err.println("outbox: " + format.formatted(arguments));
    }
}
