package dev.hapax.bench.peers;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import javax.sql.DataSource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/**
 * Spring Integration's {@code JdbcLockRegistry}: a row for as long as the handler runs. An UPDATE and an INSERT in one
 * commit, a DELETE in another; the INSERT with the hint for PostgreSQL that the documentation gives.
 *
 * <p>It remembers nothing that is done. A duplicate here is one that comes while another client still holds the lock.
 */
final class LockRegistryPeer implements Peer {
    private static final Duration HELD = Duration.ofHours(1);

    private final DefaultLockRepository ourRepository;
    private final DefaultLockRepository otherRepository;
    private final JdbcLockRegistry ours;
    private final JdbcLockRegistry other;

    LockRegistryPeer(DataSource dataSource) throws SQLException {
        Tables tables = new Tables(dataSource);
        tables.create("int_lock", MetadataStore.springIntegrationTables());
        tables.fill(
                "INT_LOCK",
                "LOCK_KEY, REGION, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER",
                "gen_random_uuid()::text, 'FILLED', gen_random_uuid()::text, LOCALTIMESTAMP, 'infinity'");
        this.ourRepository = repository(dataSource);
        this.otherRepository = repository(dataSource);
        this.ours = new JdbcLockRegistry(ourRepository);
        this.other = new JdbcLockRegistry(otherRepository, HELD);
    }

    private static DefaultLockRepository repository(DataSource dataSource) {
        DefaultLockRepository repository = new DefaultLockRepository(dataSource);
        repository.setTransactionManager(new DataSourceTransactionManager(dataSource));
        repository.setInsertQuery(repository.getInsertQuery() + " ON CONFLICT DO NOTHING");
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        return repository;
    }

    @Override
    public String name() {
        return "Spring Integration JdbcLockRegistry";
    }

    @Override
    public String doesNot() {
        return "no memory: whoever comes after the end runs again; no result, no fingerprint";
    }

    @Override
    public void fresh() {
        Lock lock = ours.obtain(Work.newKey());
        lock.lock();
        try {
            Work.require(Work.isFirst(Work.handle()), "the handler did not run");
        } finally {
            lock.unlock();
        }
    }

    /** Another client takes the lock and keeps it. */
    @Override
    public void prepare(String key) {
        other.obtain(key).lock();
    }

    @Override
    public void replay(String key) {
        Lock lock = ours.obtain(key);
        if (lock.tryLock()) {
            lock.unlock();
            throw new IllegalStateException("a lock was given to two clients");
        }
    }

    @Override
    public void close() {
        otherRepository.close();
        ourRepository.close();
    }
}
