package dev.hapax.postgres.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.PublishResult;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.postgres.TestDatabase;
import dev.hapax.store.StoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class RestartedOutboxIT {
    private static final int MESSAGES = 2_000;

    private final Receiver receiver = new Receiver();
    private final AtomicInteger tries = new AtomicInteger();
    private final AtomicInteger unavailable = new AtomicInteger();
    private final AtomicInteger permanent = new AtomicInteger();
    private final AtomicInteger sent = new AtomicInteger();
    private final CompletableFuture<PublishResult> afterTheKill = new CompletableFuture<>();

    @Test
    void killedDatabaseLosesNoMessage() throws Exception {
        receiver.answeringLater(message -> sent.incrementAndGet() <= MESSAGES / 4
                ? CompletableFuture.completedFuture(PublishResult.published())
                : afterTheKill);
        try (EmbeddedPostgres server = EmbeddedPostgres.start();
                HikariDataSource pool = TestDatabase.pool(server.jdbcUrl(), 4)) {
            PostgresSchema.migrate(pool);
            append(pool);
            DataSource counting = counting(TestDatabase.unpooled(server.jdbcUrl()));
            try (OutboxRelay first = relay(counting);
                    OutboxRelay second = relay(counting)) {
                Awaitility.await().until(() -> sent.get() > MESSAGES / 4);
                server.kill();
                afterTheKill.complete(PublishResult.published());
                long began = System.nanoTime();
                int triesBefore = tries.get();
                int unavailableBefore = unavailable.get();
                Awaitility.await()
                        .atMost(Duration.ofMinutes(1))
                        .until(() -> unavailable.get() >= unavailableBefore + 8);
                int triesSince = tries.get() - triesBefore;
                // The pauses of two relays are 100 ms at the least, and soon longer.
                long most = 4
                        + 2
                                * ((System.nanoTime() - began)
                                        / Duration.ofMillis(100).toNanos());
                assertThat((long) triesSince).isLessThanOrEqualTo(most);
                server.restart();
                first.wake();
                second.wake();
                Awaitility.await()
                        .atMost(Duration.ofMinutes(1))
                        .ignoreExceptions()
                        .until(() -> OutboxInspector.over(pool).lag().depth() == 0);
            }
        }
        assertThat(permanent).as("outages that were taken for refusals").hasValue(0);
        assertThat(new HashSet<>(receiver.texts())).hasSize(MESSAGES);
        receiver.firstTimesByAggregate()
                .forEach((aggregate, texts) -> assertThat(texts)
                        .as(aggregate)
                        .isEqualTo(texts.stream()
                                .sorted((a, b) -> Integer.compare(Integer.parseInt(a), Integer.parseInt(b)))
                                .toList()));
    }

    private OutboxRelay relay(DataSource dataSource) {
        return OutboxRelay.over(dataSource, receiver)
                .batch(50)
                .publishTimeout(Duration.ofSeconds(2))
                .lease(Duration.ofSeconds(5))
                .listener(new OutboxListener() {
                    @Override
                    public void unavailable(StoreException cause) {
                        permanent.addAndGet(cause.retryable() ? 0 : 1);
                        unavailable.incrementAndGet();
                    }
                })
                .lagEvery(Duration.ofHours(1))
                .start();
    }

    private static void append(DataSource dataSource) throws Exception {
        List<OutboxMessage> messages = IntStream.range(0, MESSAGES)
                .mapToObj(i -> Receiver.message("order-" + i % 100, "" + i))
                .toList();
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Outbox.standard().append(connection, messages);
            connection.commit();
        }
    }

    private DataSource counting(DataSource dataSource) {
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    tries.incrementAndGet();
                    try {
                        return method.invoke(dataSource, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
