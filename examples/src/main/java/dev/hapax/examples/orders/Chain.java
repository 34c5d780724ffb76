package dev.hapax.examples.orders;

import dev.hapax.postgres.outbox.OutboxInspector;
import dev.hapax.postgres.outbox.OutboxLag;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import javax.sql.DataSource;

/** From the clients to the mails, all of it at once, and what came of it. */
final class Chain {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Servers servers;
    private final int orders;
    private final Timeline timeline;
    private final Tally tally = new Tally();

    Chain(Servers servers, int orders, Timeline timeline) {
        this.servers = servers;
        this.orders = orders;
        this.timeline = timeline;
    }

    Tally tally() {
        return tally;
    }

    /** Sends the orders and follows them to the end, or until nothing moves any more. */
    Found run() throws Exception {
        try (MailService mail = new MailService(servers, orders, tally, timeline);
                Relays relays = new Relays(servers, orders, tally, timeline);
                OrderService service = OrderService.start(servers.orders(), relays::wake, tally);
                Clients clients = new Clients(service.charges(), tally)) {
            timeline.say("order service, outbox relay and mail service are up");
            order(clients);
            await("the outbox is empty", () -> waiting(servers.orders()) == 0);
            await("the queue is empty", () -> servers.broker().depth(Servers.QUEUE) == 0);
        }
        return Found.in(servers, waiting(servers.orders()));
    }

    private void order(Clients clients) throws InterruptedException {
        try {
            clients.order(orders);
            timeline.say("the clients have their answers, to %s for %s"
                    .formatted(
                            Timeline.count(tally.requests.sum(), "request", "requests"),
                            Timeline.count(orders, "order", "orders")));
        } catch (ExecutionException e) {
            timeline.mishap("the clients give up: " + e.getCause());
        }
    }

    private static long waiting(DataSource dataSource) {
        OutboxLag lag = OutboxInspector.over(dataSource).lag();
        return lag.depth() + lag.parked();
    }

    private void await(String what, Callable<Boolean> condition) throws Exception {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() > until) {
                timeline.mishap("after %d s it is still not so that %s".formatted(PATIENCE.toSeconds(), what));
                return;
            }
            Thread.sleep(PAUSE.toMillis());
        }
        timeline.say(what);
    }
}
