package dev.hapax.testkit.simulation;

/** What simulated handlers throw. */
final class ExpectedFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean unknown;

    ExpectedFailure(String message, boolean unknown) {
        super(message, null, false, false);
        this.unknown = unknown;
    }

    /** Whether the policy takes it for one that leaves open what was done. */
    boolean isUnknown() {
        return unknown;
    }
}
