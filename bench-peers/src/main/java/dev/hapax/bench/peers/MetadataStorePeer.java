package dev.hapax.bench.peers;

import java.sql.SQLException;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.integration.jdbc.metadata.JdbcMetadataStore;

/**
 * Spring Integration's {@code JdbcMetadataStore} as the nearest thing to Hapax that it can be: the key is put with a
 * mark, the handler runs, and the mark is replaced by the result. Two commits.
 */
final class MetadataStorePeer implements Peer {
    private static final String CLAIMED = "claimed";

    private final MetadataStore metadata;

    MetadataStorePeer(DataSource dataSource) throws SQLException {
        this.metadata = MetadataStore.over(dataSource);
    }

    @Override
    public String name() {
        return "Spring Integration JdbcMetadataStore (with results)";
    }

    @Override
    public String doesNot() {
        return "no fingerprint, no lease: the key of a crashed caller stays claimed; results are text of at most 4,000"
                + " characters";
    }

    @Override
    public void fresh() {
        prepare(Work.newKey());
    }

    @Override
    public void prepare(String key) {
        Work.require(claim(key) == null, "a new key was taken for a duplicate");
        String result = Work.handle();
        Work.require(
                Boolean.TRUE.equals(inTransaction(() -> store().replace(key, CLAIMED, result))),
                "the result was not stored");
    }

    @Override
    public void replay(String key) {
        Work.require(Work.isFirst(claim(key)), "a duplicate did not get the result");
    }

    private @Nullable String claim(String key) {
        return inTransaction(() -> store().putIfAbsent(key, CLAIMED));
    }

    private <T> @Nullable T inTransaction(Supplier<@Nullable T> step) {
        return metadata.transactions().execute(status -> step.get());
    }

    private JdbcMetadataStore store() {
        return metadata.store();
    }

    @Override
    public void close() {
        store().stop();
    }
}
