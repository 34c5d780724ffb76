package dev.hapax.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.bench.peers.Peer;
import dev.hapax.bench.peers.Peers;
import java.util.ArrayList;
import java.util.List;

/** Fresh operations beside other libraries that keep work from being done twice, each as its documentation says. */
final class PeerFigures {
    private static final int CALLERS = 128;
    private static final List<Integer> POOLS = List.of(8, 32);

    static final List<Figure> ALL = figures();

    private PeerFigures() {}

    private static List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        figures.add(Figure.of(
                "fresh-128-fastest-peer",
                "fresh operations, 128 callers, pool of 8",
                "the fastest peer on the same PostgreSQL, 128 callers, pools of 8 and 32",
                3,
                (figure, bench) -> {
                    List<Peers.Kind> kinds = Peers.kinds().stream()
                            .filter(Peers.Kind::onPostgres)
                            .toList();
                    return measure(figure, bench, kinds);
                }));
        for (Peers.Kind kind : Peers.kinds()) {
            figures.add(Figure.informing(
                    "fresh-128-" + kind.id(),
                    "fresh operations, 128 callers, pool of 8",
                    kind.id() + ", 128 callers",
                    (figure, bench) -> measure(figure, bench, List.of(kind))));
        }
        return figures;
    }

    private static Measured measure(Figure figure, Bench bench, List<Peers.Kind> kinds) throws Exception {
        List<Workload> peers = new ArrayList<>();
        for (Peers.Kind kind : kinds) {
            for (int pool : kind.onPostgres() ? POOLS : List.of(2)) {
                peers.add(open(bench, kind, pool));
            }
        }
        try (Comparison comparison = Comparison.of(FreshFigures.ours(bench.lab(), CALLERS), peers)) {
            return comparison.measure(figure, bench);
        }
    }

    private static Workload open(Bench bench, Peers.Kind kind, int size) throws Exception {
        HikariDataSource pool = bench.lab().pool(size, Lab.WARM);
        Peer peer = kind.open(pool);
        bench.say("%s does not: %s".formatted(peer.name(), peer.doesNot()));
        return Workload.calling(
                kind.onPostgres() ? kind.id() + ", pool of " + size : kind.id(),
                CALLERS,
                () -> {
                    peer.close();
                    pool.close();
                },
                peer::fresh);
    }
}
