package dev.hapax.bench;

/** One side of a comparison: a load that can be run again and again. */
interface Workload extends AutoCloseable {
    String name();

    /**
     * Runs the load once, for about as long as the effort says.
     *
     * @return how much it did of what is compared: operations per second, unless the figure says otherwise
     */
    double round(Effort effort) throws Exception;

    @Override
    default void close() throws Exception {}

    /** What is let go of when a load ends. */
    interface Closing {
        void close() throws Exception;
    }

    /** What a load runs with, in the way of a lambda. */
    static Workload of(String name, Closing closing, Round round) {
        return new Workload() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public double round(Effort effort) throws Exception {
                return round.run(effort);
            }

            @Override
            public void close() throws Exception {
                closing.close();
            }
        };
    }

    /** One round. */
    interface Round {
        double run(Effort effort) throws Exception;
    }

    /** Callers that do the same, for as long as a round lasts. */
    static Workload calling(String name, int count, Closing closing, Callers.Step step) throws Exception {
        return calling(name, Callers.all(count, step), closing);
    }

    static Workload calling(String name, Callers callers, Closing closing) {
        Closing both = () -> {
            callers.close();
            closing.close();
        };
        return of(name, both, effort -> callers.lasting(effort.round()).perSecond());
    }
}
