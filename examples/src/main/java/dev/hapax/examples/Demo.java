package dev.hapax.examples;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.TerminalFailure;
import dev.hapax.WhenInFlight;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.embedded.postgres.EmbeddedPostgresException;
import dev.hapax.examples.Bank.Charge;
import dev.hapax.examples.Bank.Receipt;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.postgres.PostgresStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Charges cards while clients retry, lie and crash, on a PostgreSQL of its own, and shows what was really charged.
 *
 * <p>The data is kept: run it again, and the keys of the first run are still answered from the record.
 */
public final class Demo {
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Charge SHOES = new Charge("Ada", 7_998);

    private final Screen screen = new Screen(System.out);
    private final HikariDataSource pool;
    private final Bank bank;
    private final Hapax hapax;

    private Demo(String jdbcUrl) {
        pool = new HikariDataSource();
        pool.setJdbcUrl(jdbcUrl);
        pool.setMaximumPoolSize(8);
        bank = new Bank(pool);
        hapax = Hapax.on(PostgresStore.over(pool))
                .scope(
                        "payments",
                        Policy.payment().lease(LEASE).whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(10))))
                .build();
    }

    /** Arguments: where the data is kept; {@code --crash URL KEY} is the process that the demo kills. */
    public static void main(String[] args) throws Exception {
        if (args.length == 3 && args[0].equals("--crash")) {
            new Demo(args[1]).chargeForever(args[2]);
        }
        Path data = Path.of(args.length > 0 ? args[0] : ".hapax").resolve("demo");
        try (EmbeddedPostgres server =
                EmbeddedPostgres.builder().dataDirectory(data).start()) {
            new Demo(server.jdbcUrl()).tell(server);
        } catch (EmbeddedPostgresException e) {
            System.err.println("The demo's PostgreSQL did not start: " + e.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }

    private void tell(EmbeddedPostgres server) throws Exception {
        screen.title("Hapax: run it once, answer every retry.");
        screen.say("PostgreSQL runs on port %d, its data is kept in %s", server.port(), server.dataDirectory());
        PostgresSchema.migrate(pool);
        bank.open();
        int before = bank.statement().size();

        String key = "order-" + UUID.randomUUID();
        retriesAtOnce(key);
        anotherRequest(key);
        declined("order-" + UUID.randomUUID());
        killed("order-" + UUID.randomUUID());
        secondRun();
        whatWasCharged(before);
        screen.say("");
        screen.say("Run it again: the last key is answered from the record, because PostgreSQL remembers it.");
    }

    private void retriesAtOnce(String key) throws Exception {
        screen.step("Ada pays 79.98. Her phone, a proxy and a queue send it five times at once.");
        ExecutorService clients = Executors.newFixedThreadPool(5);
        List<Future<Outcome<Receipt>>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(clients.submit(() -> pay(key, SHOES)));
        }
        for (Future<Outcome<Receipt>> call : calls) {
            show("charge " + key, call.get());
        }
        clients.shutdown();
    }

    private void anotherRequest(String key) throws Exception {
        screen.step("The same key comes with another amount.");
        show("charge " + key, pay(key, new Charge("Ada", 1)));
    }

    private void declined(String key) throws Exception {
        screen.step("Grace's card is declined. The retry gets the same answer, and the bank is not asked again.");
        show("charge " + key, pay(key, new Charge("Grace", 250_000)));
        show("charge " + key, pay(key, new Charge("Grace", 250_000)));
    }

    private void killed(String key) throws Exception {
        screen.step(
                "A worker is killed with -9 in the middle of a charge. Its lease ends after %ss.", LEASE.toSeconds());
        Process worker = startWorker(key);
        worker.getInputStream().read();
        worker.destroyForcibly().waitFor();
        screen.row("charge " + key, "killed", "attempt 1");
        show("charge " + key, pay(key, new Charge("Edsger", 1_500)));
    }

    private void secondRun() throws Exception {
        screen.step("A key that never changes: executed in the first run of this demo, replayed in every other.");
        show("charge order-of-the-first-run", pay("order-of-the-first-run", new Charge("Barbara", 4_200)));
    }

    private void whatWasCharged(int before) throws Exception {
        List<Receipt> receipts = bank.statement();
        screen.step("What the bank really charged in this run: one line per purchase.");
        for (Receipt receipt : receipts.subList(before, receipts.size())) {
            screen.row(
                    receipt.id(),
                    "charged",
                    "%s, %d.%02d".formatted(receipt.customer(), receipt.cents() / 100, receipt.cents() % 100));
        }
    }

    private Outcome<Receipt> pay(String key, Charge charge) throws Exception {
        return hapax.scope("payments")
                .tenant("shop_42")
                .key(key)
                .fingerprint(charge.toString().getBytes(StandardCharsets.UTF_8))
                .returning(Receipt.class)
                .run(lease -> bank.charge(charge, lease.downstreamKey("bank.charge")));
    }

    /** The part of the process that gets killed: it says that it has begun, and never ends. */
    private void chargeForever(String key) throws Exception {
        Charge charge = new Charge("Edsger", 1_500);
        hapax.scope("payments")
                .tenant("shop_42")
                .key(key)
                .fingerprint(charge.toString().getBytes(StandardCharsets.UTF_8))
                .run(lease -> {
                    System.out.println("begun");
                    Thread.sleep(Long.MAX_VALUE);
                    return new byte[0];
                });
    }

    private Process startWorker(String key) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("java.class.path");
        return new ProcessBuilder(java, "-cp", classPath, Demo.class.getName(), "--crash", pool.getJdbcUrl(), key)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private void show(String what, Outcome<Receipt> outcome) {
        String[] words = outcome.fold(
                executed -> new String[] {"executed", ending(executed::value, "attempt " + executed.attempt())},
                replayed -> new String[] {"replayed", ending(replayed::value, "from the record")},
                inProgress -> new String[] {
                    "in progress", "retry in " + inProgress.retryAfter().toSeconds() + "s"
                },
                mismatched -> new String[] {"refused", "the key belongs to another request"},
                inDoubt -> new String[] {"in doubt", "somebody has to decide"});
        screen.row(what, words[0], words[1]);
    }

    private static String ending(Supplier<Receipt> value, String how) {
        try {
            return "%s, %s".formatted(value.get().id(), how);
        } catch (TerminalFailure failure) {
            return "%d %s, %s".formatted(failure.code(), failure.getMessage(), how);
        }
    }
}
