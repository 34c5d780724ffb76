package dev.hapax.testkit.simulation;

/** What the Java machine throws when it has no thread or no memory left, at the worst moment. */
final class InjectedError extends VirtualMachineError {
    private static final long serialVersionUID = 1L;

    InjectedError(String where) {
        super("injected: " + where);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
