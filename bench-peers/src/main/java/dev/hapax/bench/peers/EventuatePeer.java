package dev.hapax.bench.peers;

import io.eventuate.common.jdbc.EventuateSchema;
import io.eventuate.common.jdbc.sqldialect.PostgresDialect;
import io.eventuate.common.spring.jdbc.EventuateSpringJdbcStatementExecutor;
import io.eventuate.common.spring.jdbc.EventuateSpringTransactionTemplate;
import io.eventuate.tram.consumer.common.DuplicateMessageDetector;
import io.eventuate.tram.consumer.jdbc.SqlTableBasedDuplicateMessageDetector;
import io.eventuate.tram.messaging.common.Message;
import io.eventuate.tram.messaging.common.MessageImpl;
import io.eventuate.tram.messaging.common.SubscriberIdAndMessage;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Eventuate Tram's duplicate detector, put together as its Spring configuration does: the id of the message is inserted
 * and the handler runs in one transaction. One INSERT and one commit.
 */
final class EventuatePeer implements Peer {
    /** The table of its schema for PostgreSQL. */
    private static final String RECEIVED_MESSAGES = """
            CREATE SCHEMA IF NOT EXISTS eventuate;
            CREATE TABLE eventuate.received_messages (
                consumer_id   VARCHAR(1000),
                message_id    VARCHAR(1000),
                creation_time BIGINT,
                published     SMALLINT DEFAULT 0,
                PRIMARY KEY (consumer_id, message_id)
            );
            """;

    private final DuplicateMessageDetector detector;

    EventuatePeer(DataSource dataSource) throws SQLException {
        Tables tables = new Tables(dataSource);
        tables.create(
                "eventuate.received_messages",
                new ByteArrayResource(RECEIVED_MESSAGES.getBytes(StandardCharsets.UTF_8)));
        tables.fill(
                "eventuate.received_messages", "consumer_id, message_id, creation_time", "'bench', 'filled-' || n, 0");
        this.detector = new SqlTableBasedDuplicateMessageDetector(
                new EventuateSchema(),
                new PostgresDialect().getCurrentTimeInMillisecondsExpression(),
                new EventuateSpringJdbcStatementExecutor(new JdbcTemplate(dataSource)),
                new EventuateSpringTransactionTemplate(
                        new TransactionTemplate(new DataSourceTransactionManager(dataSource))));
    }

    @Override
    public String name() {
        return "Eventuate Tram SqlTableBasedDuplicateMessageDetector";
    }

    @Override
    public String doesNot() {
        return "no result for the duplicate, no fingerprint, no lease; the connection is held while the handler runs";
    }

    @Override
    public void fresh() {
        prepare(Work.newKey());
    }

    @Override
    public void prepare(String key) {
        Work.require(ran(key), "a new message was taken for a duplicate");
    }

    @Override
    public void replay(String key) {
        Work.require(!ran(key), "a duplicate was taken for a new message");
    }

    private boolean ran(String key) {
        AtomicBoolean ran = new AtomicBoolean();
        Message message = new MessageImpl("", Map.of(Message.ID, key));
        detector.doWithMessage(
                new SubscriberIdAndMessage(Work.PROCESSOR, message), () -> ran.set(Work.isFirst(Work.handle())));
        return ran.get();
    }

    @Override
    public void close() {}
}
