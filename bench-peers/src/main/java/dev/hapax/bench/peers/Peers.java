package dev.hapax.bench.peers;

import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** All peers there are. To add one, add it to {@link #KINDS}. */
public final class Peers {
    private static final List<Kind> KINDS = List.of(
            new Kind("camel", true, CamelPeer::messageIds),
            new Kind("camel-orphan-lock-aware", true, CamelPeer::orphanLockAware),
            new Kind("spring-integration-receiver", true, IdempotentReceiverPeer::new),
            new Kind("spring-integration-metadata", true, MetadataStorePeer::new),
            new Kind("spring-integration-lock", true, LockRegistryPeer::new),
            new Kind("eventuate-tram", true, EventuatePeer::new),
            new Kind("dbos", true, DbosPeer::new),
            new Kind("jdempotent-redis", false, dataSource -> new JdempotentPeer()));

    /** Gives a peer its pool. Who opens the pools closes them, after the peers. */
    public interface DataSources {
        /** @param id of the kind of peer that asks */
        DataSource open(String id) throws Exception;
    }

    /** Sets a peer up. */
    public interface Opening {
        Peer open(DataSource dataSource) throws Exception;
    }

    /**
     * A kind of peer, which may be opened any number of times, also over several pools of different sizes at once. The
     * first to be opened in a schema creates the tables there, the others share them.
     *
     * @param id short and stable, for the names of figures
     * @param onPostgres whether it works on the data source it is given; otherwise it brings a server of its own
     */
    public record Kind(String id, boolean onPostgres, Opening opening) {
        /** A pool of one connection may be too small. The data source's schema is where the tables go. */
        public Peer open(DataSource dataSource) throws Exception {
            return opening.open(dataSource);
        }
    }

    private Peers() {}

    public static List<Kind> kinds() {
        return KINDS;
    }

    /** One peer of each kind, for the caller to close. */
    public static List<Peer> all(DataSources dataSources) throws Exception {
        List<Peer> peers = new ArrayList<>();
        try {
            for (Kind kind : KINDS) {
                peers.add(kind.open(dataSources.open(kind.id())));
            }
            return List.copyOf(peers);
        } catch (Exception e) {
            for (Peer peer : peers) {
                peer.close();
            }
            throw e;
        }
    }
}
