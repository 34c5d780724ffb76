package dev.hapax.bench.peers;

import javax.sql.DataSource;
import org.apache.camel.CamelContext;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.processor.idempotent.jdbc.JdbcMessageIdRepository;
import org.apache.camel.processor.idempotent.jdbc.JdbcOrphanLockAwareIdempotentRepository;

/**
 * Camel's idempotent consumer over JDBC, as the consumer calls its repository by default: {@code add} before the
 * message is processed, {@code confirm} after.
 *
 * <p>{@code add} is one transaction with a SELECT and an INSERT. {@code confirm} does nothing with either repository,
 * so a fresh message costs one commit where Hapax has two.
 */
final class CamelPeer implements Peer {
    private static final long LOCK_MAX_AGE_MS = 300_000;
    private static final long KEEP_ALIVE_MS = 60_000;

    private final CamelContext context;
    private final JdbcMessageIdRepository repository;
    private final String doesNot;

    private CamelPeer(CamelContext context, JdbcMessageIdRepository repository, String doesNot) {
        this.context = context;
        this.repository = repository;
        this.doesNot = doesNot;
    }

    static CamelPeer messageIds(DataSource dataSource) throws Exception {
        return new CamelPeer(
                        new DefaultCamelContext(),
                        new JdbcMessageIdRepository(dataSource, Work.PROCESSOR),
                        "no result for the duplicate, no fingerprint; what a crashed consumer began is never run again")
                .start(dataSource);
    }

    /**
     * The repository that takes over the locks of crashed consumers. It keeps alive every id it has ever added, so its
     * interval is a long one here: none falls into a measurement.
     */
    static CamelPeer orphanLockAware(DataSource dataSource) throws Exception {
        CamelContext context = new DefaultCamelContext();
        JdbcOrphanLockAwareIdempotentRepository repository =
                new JdbcOrphanLockAwareIdempotentRepository(dataSource, Work.PROCESSOR, context);
        repository.setLockMaxAgeMillis(LOCK_MAX_AGE_MS);
        repository.setLockKeepAliveIntervalMillis(KEEP_ALIVE_MS);
        return new CamelPeer(
                        context,
                        repository,
                        "no result for the duplicate, no fingerprint; what a consumer finished runs again once it is gone")
                .start(dataSource);
    }

    private CamelPeer start(DataSource dataSource) throws Exception {
        context.start();
        context.addService(repository);
        new Tables(dataSource)
                .fill(
                        "CAMEL_MESSAGEPROCESSED",
                        "processorName, messageId, createdAt",
                        "'bench', 'filled-' || n, LOCALTIMESTAMP");
        return this;
    }

    @Override
    public String name() {
        return "Camel " + repository.getClass().getSimpleName();
    }

    @Override
    public String doesNot() {
        return doesNot;
    }

    @Override
    public void fresh() {
        prepare(Work.newKey());
    }

    @Override
    public void prepare(String key) {
        Work.require(repository.add(key), "a new message was taken for a duplicate");
        Work.require(Work.isFirst(Work.handle()), "the handler did not run");
        repository.confirm(key);
    }

    @Override
    public void replay(String key) {
        Work.require(!repository.add(key), "a duplicate was taken for a new message");
    }

    @Override
    public void close() {
        context.stop();
    }
}
