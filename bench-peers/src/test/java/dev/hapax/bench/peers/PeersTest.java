package dev.hapax.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PeersTest {
    private static final int CALLERS = 8;

    private final List<HikariDataSource> pools = new ArrayList<>();
    private EmbeddedPostgres server;
    private List<Peer> peers;

    @BeforeAll
    void openAll() throws Exception {
        server = EmbeddedPostgres.builder().setting("fsync", "off").start();
        peers = Peers.all(id -> pool());
    }

    @AfterAll
    void closeAll() throws Exception {
        for (Peer peer : peers) {
            peer.close();
        }
        pools.forEach(HikariDataSource::close);
        server.close();
    }

    List<Peer> peers() {
        return peers;
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("peers")
    void doesFreshOperationsForManyCallers(Peer peer) throws Exception {
        fromManyCallers(() -> {
            for (int i = 0; i < 20; i++) {
                peer.fresh();
            }
            return null;
        });
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("peers")
    void noticesDuplicates(Peer peer) throws Exception {
        String key = Work.newKey();
        peer.prepare(key);
        fromManyCallers(() -> {
            for (int i = 0; i < 5; i++) {
                peer.replay(key);
            }
            return null;
        });
    }

    /** Otherwise the test above would see nothing. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("peers")
    void replayFailsWithoutAFirstRun(Peer peer) {
        assertThatThrownBy(() -> peer.replay(Work.newKey())).isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("peers")
    void saysWhatItDoesNot(Peer peer) {
        assertThat(peer.doesNot()).isNotBlank().doesNotContain("\n");
    }

    @Test
    void namesAndIdsAreUnique() {
        assertThat(peers).extracting(Peer::name).doesNotHaveDuplicates();
        assertThat(Peers.kinds()).extracting(Peers.Kind::id).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("dev.hapax.bench.peers.Peers#kinds")
    void opensASecondTimeBesideTheFirst(Peers.Kind kind) throws Exception {
        try (Peer second = kind.open(pool())) {
            second.fresh();
        }
    }

    private HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(0);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    private static void fromManyCallers(Callable<Void> task) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try {
            List<Future<Void>> all = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                all.add(callers.submit(task));
            }
            for (Future<Void> one : all) {
                one.get();
            }
        } finally {
            callers.shutdown();
        }
    }
}
