package dev.hapax.postgres.outbox;

import static dev.hapax.postgres.outbox.Receiver.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.postgres.OpenTransactionException;
import dev.hapax.postgres.TestDatabase;
import dev.hapax.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

@Timeout(60)
class OutboxInspectorTest {
    private final TestOutbox box = new TestOutbox();

    @AfterEach
    void close() {
        box.close();
    }

    /** Gives out one connection, as a data source does that is bound to the transaction of its thread. */
    private static final class BoundDataSource extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;
        private final transient Connection bound;

        BoundDataSource(Connection bound) {
            this.bound = bound;
        }

        @Override
        public Connection getConnection() {
            return bound;
        }
    }

    @Test
    void openTransactionIsNotCommitted() throws SQLException {
        OutboxMessage parked = park();
        try (Connection connection = box.database.unpooled().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO orders VALUES (1)");
            OutboxInspector inspector = OutboxInspector.over(new BoundDataSource(connection));

            assertThatExceptionOfType(OpenTransactionException.class)
                    .isThrownBy(() -> inspector.discard(parked.id()))
                    .withMessageContaining("not bound to the calling thread");
        }
        assertThat(box.database.queryLong("SELECT count(*) FROM orders")).isZero();
        assertThat(box.rows()).isOne();
    }

    @Test
    void discardRefusesSimpleQueryMode() {
        OutboxMessage parked = park();
        OutboxInspector simple =
                OutboxInspector.over(TestDatabase.unpooled(box.database.jdbcUrl() + "&preferQueryMode=simple"));

        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> simple.discard(parked.id()))
                .withMessageContaining("preferQueryMode=simple");
        assertThat(box.rows()).isOne();
    }

    private OutboxMessage park() {
        box.database.execute("CREATE TABLE orders (id int)");
        OutboxMessage message = message("a", "a1");
        box.append(message);
        box.database.execute("UPDATE hapax_outbox SET state = 3, due = 'infinity'");
        return message;
    }
}
