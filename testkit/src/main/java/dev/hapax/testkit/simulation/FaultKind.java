package dev.hapax.testkit.simulation;

/** What a simulation does to the engine. */
public enum FaultKind {
    REQUEST_LOST("requests lost"),
    REQUEST_DELAYED("requests delayed past their timeout"),
    ANSWER_LOST("answers lost"),
    ANSWER_LATE("answers later than a lease"),
    STORE_AWAY("calls while the store was away"),
    STORE_LOCKED("renewals that met a lock"),
    STORE_THREW("calls that threw"),
    INSTANCE_FROZEN("instances frozen"),
    INSTANCE_KILLED("instances killed"),
    CLOCK_DRIFT("instances whose clock drifts"),
    POLICY_CHANGED("deployments with another policy"),
    EXECUTOR_LATE("handlers that began late"),
    EXECUTOR_REFUSED("executors that refused"),
    EXECUTOR_CONFUSED("executors that queued a task twice and threw"),
    TIMER_REFUSED("timers that refused"),
    HANDLER_HUNG("handlers that hung");

    private final String description;

    FaultKind(String description) {
        this.description = description;
    }

    public String description() {
        return description;
    }
}
