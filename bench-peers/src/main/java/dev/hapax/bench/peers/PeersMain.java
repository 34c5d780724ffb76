package dev.hapax.bench.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Shows that every peer runs, and roughly how fast. The benchmark measures, this only looks. */
public final class PeersMain {
    private static final int CALLERS = 32;
    private static final int POOL = 16;
    private static final Duration WARM_UP = Duration.ofSeconds(2);
    private static final Duration TIME = Duration.ofSeconds(3);

    private PeersMain() {}

    public static void main(String[] args) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try (EmbeddedPostgres server =
                EmbeddedPostgres.builder().setting("max_connections", "100").start()) {
            for (Peers.Kind kind : Peers.kinds()) {
                try (HikariDataSource pool = pool(server);
                        Peer peer = kind.open(pool)) {
                    freshPerSecond(peer, callers, WARM_UP);
                    System.out.printf(
                            "%8.0f/s  %s%n            %s%n",
                            freshPerSecond(peer, callers, TIME), peer.name(), peer.doesNot());
                }
            }
        } finally {
            callers.shutdown();
        }
    }

    private static HikariDataSource pool(EmbeddedPostgres server) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setMaximumPoolSize(POOL);
        return new HikariDataSource(config);
    }

    private static double freshPerSecond(Peer peer, ExecutorService callers, Duration time) throws Exception {
        long began = System.nanoTime();
        List<Future<Integer>> counts = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            counts.add(callers.submit(() -> {
                int count = 0;
                while (System.nanoTime() - began < time.toNanos()) {
                    peer.fresh();
                    count++;
                }
                return count;
            }));
        }
        long all = 0;
        for (Future<Integer> count : counts) {
            all += count.get();
        }
        return all * 1e9 / (System.nanoTime() - began);
    }
}
