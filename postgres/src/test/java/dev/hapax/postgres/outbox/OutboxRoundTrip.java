package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Receiver.message;
import static dev.hapax.postgres.outbox.Receiver.unordered;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.postgres.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** Runs every statement of the outbox once and checks its effect, on a table that is empty before and after. */
public final class OutboxRoundTrip {
    private final DataSource dataSource;
    private final OutboxTable table;
    private final OutboxInspector inspector;

    private OutboxRoundTrip(DataSource dataSource) {
        this.dataSource = dataSource;
        this.table = TestOutbox.table(dataSource, Duration.ofMinutes(1));
        this.inspector = OutboxInspector.over(dataSource);
    }

    public static void run(DataSource dataSource) throws SQLException {
        new OutboxRoundTrip(dataSource).run();
    }

    private void run() throws SQLException {
        OutboxMessage second = message("a", "a2");
        append(message("a", "a1"), second, message("a", "a3"), unordered("u1"));
        OutboxTable.Claimed claimed = claim(2);
        assertThat(claimed.waiting()).as("a2 and a3").isEqualTo(2);
        for (LeasedMessages leased : claimed.leased()) {
            if (leased.size() == 3) {
                leased.advance();
                leased.fail(new PublishFailure("no", null));
            } else {
                leased.fail(new PublishFailure("not yet", Duration.ZERO));
            }
        }
        finish(claimed.leased());
        assertThat(inspector.lag().depth()).as("a3 and u1").isEqualTo(2);
        assertThat(inspector.parked(10))
                .singleElement()
                .satisfies(it -> assertThat(it.message()).isEqualTo(second));

        OutboxTable.Claimed lost = claim(1);
        assertThat(table.release(List.of(lost.lease().token()))).isOne();
        assertThat(table.release(List.of(lost.lease().token()))).isZero();
        publish("u1", 2);

        assertThat(inspector.unpark(second.id())).isTrue();
        LeasedMessages again = claim(1).leased().get(0);
        again.fail(new PublishFailure("no", null));
        finish(List.of(again));
        assertThat(inspector.unparkAll("orders")).isOne();
        LeasedMessages onceMore = claim(1).leased().get(0);
        onceMore.fail(new PublishFailure("no", null));
        finish(List.of(onceMore));
        assertThat(inspector.discard(second.id())).isTrue();

        claim(1);
        append(message("a", "a4"));
        assertThat(claim(0).waiting()).as("a4").isOne();
        TestDatabase.execute(dataSource, "DELETE FROM hapax_outbox WHERE state = 1");
        assertThat(table.releaseOrphanedWaiting()).isOne();
        publish("a4", 1);
        assertThat(inspector.lag()).isEqualTo(new OutboxLag(0, Duration.ZERO, 0));
    }

    private void append(OutboxMessage... messages) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Outbox.standard().notifying().append(connection, messages);
            connection.commit();
        }
    }

    private OutboxTable.Claimed claim(int keys) {
        OutboxTable.Claimed claimed = table.claim(10, 10, lease -> {});
        assertThat(claimed.leased()).hasSize(keys);
        return claimed;
    }

    private void publish(String text, int attempt) {
        LeasedMessages leased = claim(1).leased().get(0);
        assertThat(Receiver.text(leased.current().outgoing().message())).isEqualTo(text);
        assertThat(leased.current().outgoing().attempt()).isEqualTo(attempt);
        leased.advance();
        finish(List.of(leased));
    }

    private void finish(List<LeasedMessages> messages) {
        assertThat(table.finish(messages).stillLeased()).hasSameSizeAs(messages);
    }
}
