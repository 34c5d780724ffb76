package dev.hapax.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.bench.peers.Peer;
import dev.hapax.bench.peers.Peers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Fresh operations beside other libraries that keep work from being done twice, each as its documentation says. */
final class PeerFigures {
    static final String FASTEST = "fresh-128-fastest-peer";

    private static final int CALLERS = 128;
    private static final int OF_NO_USE = 1;

    static final List<Figure> ALL = figures();

    private PeerFigures() {}

    private static List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        for (Peers.Kind kind : Peers.kinds()) {
            figures.add(Figure.informing(
                    "fresh-128-" + kind.id(),
                    "fresh operations, 128 callers, pool of 8",
                    kind.id() + ", 128 callers" + (kind.onPostgres() ? ", with the pool size that suits it best" : ""),
                    (figure, bench) -> bench.peers().against(kind, figure)));
        }
        figures.add(Figure.of(
                FASTEST,
                "fresh operations, 128 callers, pool of 8",
                "the fastest peer on the same PostgreSQL",
                3,
                (figure, bench) -> bench.peers().fastest(figure)));
        return figures;
    }

    /** What came out for each peer: the fastest one is known when all have been measured. */
    static final class Results {
        private final Bench bench;
        private final Map<Peers.Kind, Measured> byKind = new LinkedHashMap<>();

        Results(Bench bench) {
            this.bench = bench;
        }

        Measured against(Peers.Kind kind, Figure figure) throws Exception {
            Measured known = byKind.get(kind);
            if (known == null) {
                known = measure(figure, bench, kind);
                byKind.put(kind, known);
            }
            return new Measured(figure, known.ratios(), known.ours(), known.theirs(), known.against());
        }

        Measured fastest(Figure figure) throws Exception {
            for (Peers.Kind kind : Peers.kinds()) {
                if (kind.onPostgres()) {
                    Measured unused = against(kind, figure);
                }
            }
            Measured hardest = byKind.entrySet().stream()
                    .filter(entry -> entry.getKey().onPostgres())
                    .map(Map.Entry::getValue)
                    .min(Comparator.comparingDouble(measured -> measured.ratio().median()))
                    .orElseThrow();
            return new Measured(figure, hardest.ratios(), hardest.ours(), hardest.theirs(), hardest.against());
        }
    }

    private static Measured measure(Figure figure, Bench bench, Peers.Kind kind) throws Exception {
        Workload ours = FreshFigures.ours(bench.lab(), CALLERS);
        try (Comparison comparison = kind.onPostgres()
                ? Comparison.withFastestPool(ours, bench.effort(), CALLERS, pool -> open(bench, kind, pool))
                : Comparison.of(ours, open(bench, kind, OF_NO_USE))) {
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
