package dev.hapax.messaging;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Work.Operation;
import dev.hapax.store.Durations;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.InvalidKeyException;
import dev.hapax.store.OperationKey;
import dev.hapax.store.Transactions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Handles every message once, however often it is delivered: the piece between a broker's adapter and the engine. Safe
 * for use by many threads.
 *
 * <pre>{@code
 * Hapax hapax = Hapax.on(PostgresStore.over(dataSource)).scope("orders.mailer", Policy.webhook()).build();
 *
 * IdempotentConsumer<Order> consumer = IdempotentConsumer.<Order>named("orders.mailer", hapax)
 *     .key(Order::id)
 *     .payload(Order::bytes)
 *     .handling((order, lease) -> mails.send(order, lease.downstreamKey("mail")));
 * }</pre>
 *
 * <p>The consumer's name is the scope of its operations, so that two consumers of the same messages each handle all of
 * them. The scope's {@link Policy} says how long a message is remembered (longer than a broker may redeliver it), how
 * often it is tried and what becomes of it when a process dies in the middle.
 *
 * <p>What a message comes to:
 *
 * <table>
 * <caption>Dispositions</caption>
 * <tr><td>handled now, or by an earlier delivery</td><td>{@code Ack}</td></tr>
 * <tr><td>failed for good, now or earlier; attempts exhausted</td><td>{@code Reject}</td></tr>
 * <tr><td>no key, or one that names no operation</td><td>{@code Reject}</td></tr>
 * <tr><td>its key was used with other content</td><td>{@code Reject}</td></tr>
 * <tr><td>in doubt</td><td>{@code Reject}, unless {@link Builder#waitingInDoubt}</td></tr>
 * <tr><td>failed and may be tried again</td><td>{@code RetryLater}, by attempt</td></tr>
 * <tr><td>being handled by another delivery</td><td>{@code RetryLater}</td></tr>
 * <tr><td>store unreachable; done but not recorded; claim lost; released before it began</td><td>{@code RetryLater}</td></tr>
 * </table>
 */
public final class IdempotentConsumer<M> {
    private final String name;
    private final Identity<M> identity;
    private final Dispositions dispositions;
    private final Work<M> work;

    private IdempotentConsumer(Builder<M> builder, Work<M> work) {
        this.name = builder.name;
        this.identity = new Identity<>(
                builder.name, builder.tenant, Objects.requireNonNull(builder.key, "key"), builder.payload);
        this.dispositions = builder.dispositions();
        this.work = work;
    }

    /**
     * Begins with the consumer's name, which must be a declared scope.
     *
     * @throws IllegalArgumentException unless the scope was declared
     */
    public static <M> Builder<M> named(String name, Hapax hapax) {
        return new Builder<>(name, hapax);
    }

    /** The consumer's name: the scope of its operations. */
    public String name() {
        return name;
    }

    /**
     * Handles a message, unless it was handled before or is being handled.
     *
     * @param executor where the handler runs, and what is chained to the stage
     * @return how the message is to be settled; never fails
     */
    public CompletionStage<Disposition> consume(M message, Executor executor) {
        return consumeAll(List.of(new Delivery<>(message, executor)), executor).get(0);
    }

    /**
     * Handles many messages, claimed together: one by one they would cost a round trip to the store each. Each handler
     * begins on its own executor as soon as its claim is won; {@link Turn} keeps an order where one is wanted.
     *
     * @return in the order of the deliveries; none of the stages fails. They complete on threads that others may wait
     *     for: chain nothing to them that blocks, or name an executor
     */
    public List<CompletionStage<Disposition>> consumeAll(List<Delivery<M>> deliveries) {
        return consumeAll(deliveries, Runnable::run);
    }

    private List<CompletionStage<Disposition>> consumeAll(List<Delivery<M>> deliveries, Executor completions) {
        List<@Nullable CompletionStage<Disposition>> ends = new ArrayList<>();
        List<Operation<M>> operations = new ArrayList<>();
        for (Delivery<M> delivery : deliveries) {
            try {
                operations.add(identity.of(delivery));
                ends.add(null);
            } catch (InvalidMessageException invalid) {
                ends.add(CompletableFuture.completedFuture(new Reject(Dispositions.describe(invalid))));
            } catch (VirtualMachineError exhausted) { // never the message's fault
                ends.add(CompletableFuture.completedFuture(dispositions.of(exhausted, 0)));
            }
        }
        List<CompletionStage<Disposition>> run = work.run(operations, completions);
        int next = 0;
        List<CompletionStage<Disposition>> all = new ArrayList<>();
        for (CompletionStage<Disposition> end : ends) {
            all.add(end == null ? run.get(next++) : end);
        }
        return all;
    }

    /** Which operation a message is. */
    private record Identity<M>(
            String scope,
            Function<? super M, @Nullable String> tenant,
            Function<? super M, @Nullable String> key,
            @Nullable Function<? super M, byte @Nullable []> payload) {

        Operation<M> of(Delivery<M> delivery) {
            M message = delivery.message();
            String key = read("key", this.key, message);
            String tenant = read("tenant", this.tenant, message);
            if (key == null) {
                throw new InvalidMessageException("the message has no key", null);
            }
            byte[] bytes = payload == null ? null : read("payload", payload, message);
            try {
                return new Operation<>(
                        delivery,
                        new OperationKey(tenant == null ? "" : tenant, scope, key),
                        bytes == null ? Fingerprint.NONE : Fingerprint.of(bytes));
            } catch (InvalidKeyException invalid) {
                throw new InvalidMessageException(Dispositions.describe(invalid), invalid);
            }
        }

        private static <M, R> @Nullable R read(String what, Function<? super M, @Nullable R> function, M message) {
            try {
                return function.apply(message);
            } catch (Throwable broken) { // a checked one too: not every function is written in Java
                if (broken instanceof VirtualMachineError exhausted && !(broken instanceof StackOverflowError)) {
                    throw exhausted;
                }
                throw new InvalidMessageException(
                        "the message's %s cannot be read: %s".formatted(what, broken), broken);
            }
        }
    }

    private static final class InvalidMessageException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        InvalidMessageException(String message, @Nullable Throwable cause) {
            super(message, cause, false, false);
        }
    }

    /** Collects the settings of an {@link IdempotentConsumer}. Not safe for use by many threads. */
    public static final class Builder<M> {
        private final String name;
        private final Hapax hapax;
        private final Policy policy;
        private Function<? super M, @Nullable String> tenant = message -> null;
        private @Nullable Function<? super M, @Nullable String> key;
        private @Nullable Function<? super M, byte @Nullable []> payload;
        private Backoff backoff = Backoff.defaults();
        private @Nullable Duration inDoubt;

        private Builder(String name, Hapax hapax) {
            this.name = name;
            this.hapax = hapax;
            this.policy = hapax.scope(name).policy();
        }

        /**
         * Where a message's key is: what its sender chose, and chooses again when it sends the message again. A message
         * without one, or for which this throws, is rejected; one for which the memory does not suffice is retried.
         */
        public Builder<M> key(Function<? super M, @Nullable String> key) {
            this.key = key;
            return this;
        }

        /** Whose message it is. Default, and where this gives {@code null}: one shared tenant. */
        public Builder<M> tenant(Function<? super M, @Nullable String> tenant) {
            this.tenant = tenant;
            return this;
        }

        /**
         * The content of a message: the same key with other content is rejected, and never mistaken for a repeat.
         * Adapters set this to the message's body; {@link #anyPayload} turns it off.
         */
        public Builder<M> payload(Function<? super M, byte @Nullable []> payload) {
            this.payload = payload;
            return this;
        }

        /** A key alone says which message it is, whatever the content: for senders whose repeats differ. */
        public Builder<M> anyPayload() {
            this.payload = null;
            return this;
        }

        /** How long a message waits before it is tried again. Default: from half a second to a minute. */
        public Builder<M> backoff(Backoff backoff) {
            this.backoff = backoff;
            return this;
        }

        /**
         * Retries a message whose operation is in doubt, with this pause, until an operator or a reconciler has
         * decided. Adapters hold such messages, and they take up room. Default: the message is rejected, and an
         * operator who decides that it may run sends the dead letter again.
         */
        public Builder<M> waitingInDoubt(Duration pause) {
            this.inDoubt = Durations.requirePositive(pause, "the pause of messages in doubt");
            return this;
        }

        /** With a handler that may block. */
        public IdempotentConsumer<M> handling(MessageHandler<M> handler) {
            Objects.requireNonNull(handler, "handler");
            return handlingAsync((message, lease) -> {
                try {
                    handler.handle(message, lease);
                    return CompletableFuture.completedFuture(Work.nothing());
                } catch (Exception thrown) {
                    return CompletableFuture.failedFuture(thrown);
                }
            });
        }

        /** With a handler that does not block. */
        public IdempotentConsumer<M> handlingAsync(AsyncMessageHandler<M> handler) {
            Objects.requireNonNull(handler, "handler");
            return new IdempotentConsumer<>(this, new LeasedWork<>(hapax, name, handler, dispositions()));
        }

        /**
         * With a handler whose database writes commit together with the record, so that they happen exactly once.
         *
         * @param transactions on the database that holds Hapax's tables, such as
         *     {@code PostgresTransactions.over(dataSource)}
         */
        public <C> IdempotentConsumer<M> handlingWithin(
                Transactions<C> transactions, TransactionalHandler<M, C> handler) {
            Objects.requireNonNull(transactions, "transactions");
            Objects.requireNonNull(handler, "handler");
            return new IdempotentConsumer<>(
                    this, new TransactionalWork<>(hapax, name, transactions, handler, dispositions()));
        }

        private Dispositions dispositions() {
            return new Dispositions(policy, backoff, inDoubt);
        }
    }
}
