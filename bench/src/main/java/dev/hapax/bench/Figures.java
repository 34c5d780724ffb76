package dev.hapax.bench;

import java.util.List;
import java.util.stream.Stream;

/** All figures, in the order in which they are measured. A run measures the usual ones, unless others are asked for. */
final class Figures {
    /** The pool that Hapax has, unless a figure says otherwise. */
    static final int POOL = 8;

    static final List<Figure> USUAL = Stream.of(
                    FreshFigures.ALL,
                    TransactionalFigures.ALL,
                    LatencyFigures.ALL,
                    RepeatFigures.ALL,
                    PeerFigures.ALL,
                    CostFigures.ALL,
                    GatewayFigures.ALL,
                    TableFigures.ALL)
            .flatMap(List::stream)
            .toList();

    static final List<Figure> ALL = Stream.of(USUAL, OutboxFigures.ALL, KafkaFigures.ALL)
            .flatMap(List::stream)
            .toList();

    private Figures() {}
}
