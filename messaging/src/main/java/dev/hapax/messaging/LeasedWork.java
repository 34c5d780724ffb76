package dev.hapax.messaging;

import dev.hapax.AsyncHandler;
import dev.hapax.Hapax;
import dev.hapax.Lease;
import dev.hapax.Outcome;
import dev.hapax.Scope;
import dev.hapax.Task;
import dev.hapax.messaging.internal.CompletionErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Claims all messages of a batch at once, then runs each handler under the lease it won. */
final class LeasedWork<M> implements Work<M> {
    private final Hapax hapax;
    private final Scope scope;
    private final AsyncMessageHandler<M> handler;
    private final Dispositions dispositions;

    LeasedWork(Hapax hapax, String name, AsyncMessageHandler<M> handler, Dispositions dispositions) {
        this.hapax = hapax;
        this.scope = hapax.scope(name);
        this.handler = handler;
        this.dispositions = dispositions;
    }

    @Override
    public List<CompletionStage<Disposition>> run(List<Operation<M>> operations, Executor completions) {
        List<Attempt> attempts = operations.stream().map(Attempt::new).toList();
        List<CompletionStage<Outcome<byte[]>>> outcomes = hapax.runAll(attempts.stream()
                .map(it -> new Task<>(
                        it.operation.in(scope), it, it.operation.delivery().executor(), completions))
                .toList());
        List<CompletionStage<Disposition>> ends = new ArrayList<>();
        for (int i = 0; i < attempts.size(); i++) {
            Attempt attempt = attempts.get(i);
            ends.add(outcomes.get(i)
                    .handle((outcome, error) -> error == null
                            ? dispositions.of(outcome)
                            : dispositions.of(CompletionErrors.cause(error), attempt.number)));
        }
        return ends;
    }

    private final class Attempt implements AsyncHandler<byte[]> {
        private final Operation<M> operation;
        private volatile int number;

        Attempt(Operation<M> operation) {
            this.operation = operation;
        }

        @Override
        public CompletionStage<byte[]> run(Lease lease) {
            operation.requireTurn();
            number = lease.attempt();
            return begun(lease).handle((nothing, error) -> {
                Throwable judged = error == null
                        ? null
                        : LastAttempt.judge(dispositions.policy(), lease, CompletionErrors.cause(error));
                operation
                        .delivery()
                        .turn()
                        .returned(judged == null || LastAttempt.isForGood(dispositions.policy(), judged));
                if (judged != null) {
                    throw new CompletionException(judged);
                }
                return Work.nothing();
            });
        }

        private CompletionStage<?> begun(Lease lease) {
            try {
                return Objects.requireNonNull(
                        handler.handle(operation.message(), lease), "the handler returned no stage");
            } catch (Throwable thrown) { // a checked one too: not every handler is written in Java
                return CompletableFuture.failedFuture(thrown);
            }
        }
    }
}
