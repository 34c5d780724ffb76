package dev.hapax.bench.peers;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.springframework.integration.selector.MetadataStoreSelector;
import org.springframework.messaging.support.GenericMessage;

/**
 * Spring Integration's idempotent receiver on a {@code JdbcMetadataStore}: the selector notes the key of each message
 * it accepts, and the handler runs in the same transaction. One INSERT and one commit.
 */
final class IdempotentReceiverPeer implements Peer {
    private final MetadataStore metadata;
    private final MetadataStoreSelector selector;

    IdempotentReceiverPeer(DataSource dataSource) throws SQLException {
        this.metadata = MetadataStore.over(dataSource);
        this.selector =
                new MetadataStoreSelector(message -> message.getPayload().toString(), metadata.store());
    }

    @Override
    public String name() {
        return "Spring Integration JdbcMetadataStore (idempotent receiver)";
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
        metadata.transactions().executeWithoutResult(status -> {
            if (selector.accept(new GenericMessage<>(key))) {
                ran.set(Work.isFirst(Work.handle()));
            }
        });
        return ran.get();
    }

    @Override
    public void close() {
        metadata.store().stop();
    }
}
