package dev.hapax.bench;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The two sides of a figure.
 *
 * @param theirs one workload, or variants of it of which the fastest counts
 * @param turns into how many turns a round is divided: the shorter they are, the more alike is what they meet
 */
record Sides(Workload ours, List<Workload> theirs, int turns) implements AutoCloseable {

    interface Opening {
        Sides open(Lab lab, Effort effort) throws Exception;
    }

    static Sides of(Workload ours, Workload theirs) {
        return new Sides(ours, List.of(theirs), 1);
    }

    Sides inTurns(int turns) {
        return new Sides(ours, theirs, turns);
    }

    /** Ours first. */
    List<Workload> all() {
        List<Workload> all = new ArrayList<>();
        all.add(ours);
        all.addAll(theirs);
        return all;
    }

    @Override
    public void close() throws SQLException {
        for (Workload workload : all()) {
            workload.close();
        }
    }
}
