package dev.hapax.bench;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The two sides of a figure.
 *
 * @param theirs one workload, or variants of it of which the fastest counts
 */
record Sides(Workload ours, List<Workload> theirs) implements AutoCloseable {

    interface Opening {
        Sides open(Lab lab, Effort effort) throws Exception;
    }

    static Sides of(Workload ours, Workload theirs) {
        return new Sides(ours, List.of(theirs));
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
