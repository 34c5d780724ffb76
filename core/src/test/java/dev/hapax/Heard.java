package dev.hapax;

import dev.hapax.store.ExpiredLease;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Swept;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that writes down what it hears: the event, and the attempt where there is one. */
final class Heard implements HapaxListener {
    private final List<String> events = new CopyOnWriteArrayList<>();

    List<String> events() {
        return events;
    }

    @Override
    public void claimed(OperationKey key, int attempt) {
        events.add("claimed " + attempt);
    }

    @Override
    public void completed(OperationKey key, int attempt, Duration took) {
        events.add("completed " + attempt);
    }

    @Override
    public void failed(OperationKey key, int attempt, TerminalFailure failure) {
        events.add("failed " + attempt);
    }

    @Override
    public void released(OperationKey key, int attempt, Throwable cause) {
        events.add("released " + attempt);
    }

    @Override
    public void replayed(OperationKey key) {
        events.add("replayed");
    }

    @Override
    public void inProgress(OperationKey key) {
        events.add("inProgress");
    }

    @Override
    public void mismatched(OperationKey key) {
        events.add("mismatched");
    }

    @Override
    public void inDoubt(OperationKey key) {
        events.add("inDoubt");
    }

    @Override
    public void claimLost(OperationKey key, int attempt) {
        events.add("claimLost " + attempt);
    }

    @Override
    public void unrecorded(OperationKey key, int attempt, Throwable cause) {
        events.add("unrecorded " + attempt);
    }

    @Override
    public void resultNotStored(OperationKey key, int attempt, String why) {
        events.add("resultNotStored " + attempt);
    }

    @Override
    public void unprotected(OperationKey key, Throwable cause) {
        events.add("unprotected");
    }

    @Override
    public void refused(OperationKey key, Throwable cause) {
        events.add("refused");
    }

    @Override
    public void leaseExpired(ExpiredLease lease) {
        events.add("leaseExpired " + lease.attempt());
    }

    @Override
    public void swept(Swept swept) {
        events.add("swept " + swept.total());
    }
}
