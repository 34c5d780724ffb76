package dev.hapax.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.Hapax;
import dev.hapax.NotBegunException;
import dev.hapax.OnStoreFailure;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.Policy;
import dev.hapax.TerminalFailure;
import dev.hapax.memory.MemoryStore;
import dev.hapax.messaging.Disposition.Ack;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.store.OperationKey;
import dev.hapax.store.State;
import dev.hapax.store.Store;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import dev.hapax.store.WhenAbandoned;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class IdempotentConsumerTest {
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(10));

    private final MemoryStore store = new MemoryStore();
    private final List<Hapax> opened = new ArrayList<>();
    private final List<String> handled = new ArrayList<>();
    private RuntimeException failure;

    /** @param id empty for a message without one */
    private record Message(String id, String body) {
        byte[] bytes() {
            return body.getBytes(StandardCharsets.UTF_8);
        }
    }

    private final MessageHandler<Message> handler = (message, lease) -> {
        if (failure != null) {
            throw failure;
        }
        handled.add(message.id() + "#" + lease.attempt());
    };

    @AfterEach
    void close() {
        opened.forEach(Hapax::close);
    }

    @Test
    void aRepeatIsAcknowledgedAndNotHandledAgain() {
        IdempotentConsumer<Message> consumer = consumer(Policy.defaults());
        assertThat(consume(consumer, new Message("m1", "a"))).isEqualTo(new Ack());
        assertThat(consume(consumer, new Message("m1", "a"))).isEqualTo(new Ack());
        assertThat(handled).containsExactly("m1#1");
    }

    @Test
    void consumersOfTheSameMessagesEachHandleAllOfThem() {
        Hapax hapax = hapax(store, "orders.mailer", Policy.defaults());
        Hapax other = hapax(store, "orders.biller", Policy.defaults());
        consume(builder("orders.mailer", hapax).handling(handler), new Message("m1", "a"));
        consume(builder("orders.biller", other).handling(handler), new Message("m1", "a"));
        assertThat(handled).containsExactly("m1#1", "m1#1");
    }

    @Test
    void tenantsDoNotShareKeys() {
        IdempotentConsumer<Message> consumer = builder("c", hapax(store, "c", Policy.defaults()))
                .anyPayload()
                .tenant(Message::body)
                .handling(handler);
        consume(consumer, new Message("m1", "a"));
        consume(consumer, new Message("m1", "b"));
        assertThat(handled).hasSize(2);
    }

    @Test
    void aKeyThatComesWithOtherContentIsRejected() {
        IdempotentConsumer<Message> consumer = consumer(Policy.defaults());
        consume(consumer, new Message("m1", "a"));
        assertThat(consume(consumer, new Message("m1", "b")))
                .isInstanceOfSatisfying(
                        Reject.class, it -> assertThat(it.reason()).contains("other content"));
        assertThat(handled).hasSize(1);
    }

    @Test
    void aMessageWithoutAKeyOrWithABadOneIsRejectedWithTheReason() {
        IdempotentConsumer<Message> consumer = consumer(Policy.defaults());
        assertThat(reason(consume(consumer, new Message("", "a")))).contains("no key");
        assertThat(reason(consume(consumer, new Message("m 1", "a")))).contains("U+0020");
        IdempotentConsumer<Message> broken = builder("c", hapax(store, "c", Policy.defaults()))
                .key(message -> {
                    throw new IllegalStateException("not JSON");
                })
                .handling(handler);
        assertThat(reason(consume(broken, new Message("m1", "a")))).contains("cannot be read", "not JSON");
        assertThat(handled).isEmpty();
    }

    @Test
    void unreadableMessageIsRejectedWhateverIsThrown() {
        for (Throwable thrown : List.of(new IOException("checked"), new StackOverflowError(), new Error("linkage"))) {
            for (IdempotentConsumer.Builder<Message> unreadable : unreadable(thrown)) {
                assertThat(reason(consume(unreadable.handling(handler), new Message("m1", "a"))))
                        .contains("cannot be read", thrown.toString());
            }
        }
        assertThat(handled).isEmpty();
    }

    @Test
    void messageIsRetriedWhenMemoryIsExhausted() {
        for (IdempotentConsumer.Builder<Message> unreadable : unreadable(new OutOfMemoryError("Java heap space"))) {
            assertThat(consume(unreadable.handling(handler), new Message("m1", "a")))
                    .isInstanceOfSatisfying(RetryLater.class, it -> {
                        assertThat(it.reason()).contains("Java heap space");
                        assertThat(it.handlerFailed()).isFalse();
                    });
        }
    }

    /** Whose key, tenant or payload function throws. */
    private List<IdempotentConsumer.Builder<Message>> unreadable(Throwable thrown) {
        Hapax hapax = hapax(store, "c", Policy.defaults());
        return List.of(
                builder("c", hapax).key(message -> sneaky(thrown)),
                builder("c", hapax).tenant(message -> sneaky(thrown)),
                builder("c", hapax).payload(message -> sneaky(thrown)));
    }

    /** Throws without declaring it, as functions in other languages of the JVM may. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <R, T extends Throwable> R sneaky(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    void aFailureForGoodIsRejectedNowAndWheneverItComesAgain() {
        IdempotentConsumer<Message> consumer = consumer(Policy.defaults());
        failure = new TerminalFailure(422, "no such account");
        assertThat(consume(consumer, new Message("m1", "a"))).isEqualTo(new Reject("no such account"));
        failure = null;
        assertThat(consume(consumer, new Message("m1", "a"))).isEqualTo(new Reject("no such account"));
        assertThat(handled).isEmpty();
    }

    @Test
    void aFailureThatMayPassComesBackLaterAndLaterAndIsRejectedAfterTheLastAttempt() {
        IdempotentConsumer<Message> consumer = consumer(Policy.defaults().maxAttempts(3));
        failure = new IllegalStateException("mail server is down");
        Disposition first = consume(consumer, new Message("m1", "a"));
        Disposition second = consume(consumer, new Message("m1", "a"));
        assertThat(((RetryLater) first).delay()).isBetween(Duration.ofMillis(80), Duration.ofMillis(120));
        assertThat(((RetryLater) second).delay()).isBetween(Duration.ofMillis(160), Duration.ofMillis(240));
        assertThat(reason(consume(consumer, new Message("m1", "a")))).contains("attempt 3 of 3", "mail server is down");
        failure = null;
        assertThat(consume(consumer, new Message("m1", "a"))).isInstanceOf(Reject.class);
        assertThat(handled).isEmpty();
    }

    @Test
    void whatAnotherProcessHandlesComesBackAndIsNotHandledTwice() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        IdempotentConsumer<Message> slow =
                builder("c", hapax(store, "c", Policy.defaults())).handlingAsync((message, lease) -> end);
        CompletionStage<Disposition> running = slow.consume(new Message("m1", "a"), Runnable::run);
        IdempotentConsumer<Message> other = consumer(Policy.defaults());
        assertThat(consume(other, new Message("m1", "a")))
                .isInstanceOfSatisfying(
                        RetryLater.class, it -> assertThat(it.delay()).isPositive());
        end.complete(null);
        assertThat(join(running)).isEqualTo(new Ack());
        assertThat(consume(other, new Message("m1", "a"))).isEqualTo(new Ack());
        assertThat(handled).isEmpty();
    }

    @Test
    void whatIsInDoubtIsRejectedUnlessItIsToWait() {
        Policy park = Policy.defaults().whenAbandoned(WhenAbandoned.PARK);
        failure = new OutcomeUnknownException("no answer", null);
        assertThat(reason(consume(consumer(park), new Message("m1", "a")))).contains("unknown how far");
        Duration pause = Duration.ofMinutes(1);
        IdempotentConsumer<Message> waiting =
                builder("c", hapax(store, "c", park)).waitingInDoubt(pause).handling(handler);
        assertThat(consume(waiting, new Message("m1", "a")))
                .isInstanceOfSatisfying(
                        RetryLater.class, it -> assertThat(it.delay()).isEqualTo(pause));
    }

    @Test
    void anUnreachableStoreIsNeverTheMessagesFault() {
        Store down = broken("claim", new StoreUnavailableException("no connection", null));
        assertThat(consume(builder("c", hapax(down, "c", Policy.defaults())).handling(handler), new Message("m1", "a")))
                .isInstanceOfSatisfying(
                        RetryLater.class, it -> assertThat(it.reason()).contains("no connection"));
        Store refusing = broken("claim", new StoreException("no tables", null));
        assertThat(consume(
                        builder("c", hapax(refusing, "c", Policy.defaults())).handling(handler),
                        new Message("m1", "a")))
                .isInstanceOfSatisfying(
                        RetryLater.class, it -> assertThat(it.delay()).isEqualTo(BACKOFF.longest()));
        assertThat(handled).isEmpty();
    }

    @Test
    void whatRanAndCouldNotBeRecordedIsNotAcknowledgedUnlessThePolicyRunsUnprotected() {
        Store forgetful = broken("finish", new StoreException("disk full", null));
        assertThat(consume(
                        builder("c", hapax(forgetful, "c", Policy.defaults())).handling(handler),
                        new Message("m1", "a")))
                .isInstanceOf(RetryLater.class);
        Policy open = Policy.defaults().onStoreFailure(OnStoreFailure.OPEN);
        Store down = broken("claim", new StoreUnavailableException("no connection", null));
        assertThat(consume(builder("c", hapax(down, "c", open)).handling(handler), new Message("m2", "a")))
                .isEqualTo(new Ack());
    }

    @Test
    void releasedClaimCountsNoAttempt() {
        IdempotentConsumer<Message> consumer = consumer(Policy.defaults().maxAttempts(1));
        Turn never = new Turn() {
            @Override
            public boolean mayBegin() {
                return false;
            }
        };
        Disposition notMine =
                join(consumer.consumeAll(List.of(new Delivery<>(new Message("m1", "a"), Runnable::run, never)))
                        .get(0));
        Executor refusing = task -> {
            throw new RejectedExecutionException("closed");
        };
        Disposition refused = join(consumer.consume(new Message("m1", "a"), refusing));
        assertThat(notMine).isInstanceOf(RetryLater.class);
        assertThat(refused).isInstanceOf(RetryLater.class);
        assertThat(consume(consumer, new Message("m1", "a"))).isEqualTo(new Ack());
        assertThat(handled).hasSize(1);
    }

    @Test
    void handlerThatHasNotBegunCountsNoAttempt() {
        IdempotentConsumer<Message> consumer = consumer(Policy.payment().maxAttempts(1));
        failure = new NotBegunException("the bank's circuit is open");
        for (int i = 0; i < 3; i++) {
            assertThat(consume(consumer, new Message("m1", "a")))
                    .isEqualTo(new RetryLater(BACKOFF.first(), "the bank's circuit is open"));
        }
        failure = null;
        assertThat(consume(consumer, new Message("m1", "a"))).isEqualTo(new Ack());
    }

    @Test
    void unreachableStoreCountsNoAttempt() {
        Policy once = Policy.defaults().maxAttempts(1);
        Store away = broken("claim", new StoreUnavailableException("no connection", null));
        IdempotentConsumer<Message> redelivered =
                builder("c", hapax(away, "c", once)).handling(handler);
        for (int i = 0; i < 3; i++) {
            assertThat(consume(redelivered, new Message("m1", "a"))).isInstanceOf(RetryLater.class);
        }
        assertThat(consume(consumer(once), new Message("m1", "a"))).isEqualTo(new Ack());
    }

    @Test
    void lastAttemptOfAPaymentThatThrowsIsInDoubt() {
        IdempotentConsumer<Message> consumer = consumer(Policy.payment().maxAttempts(1));
        failure = new IllegalStateException("read timed out");
        assertThat(reason(consume(consumer, new Message("m1", "a")))).contains("unknown how far");
        assertThat(store.find(List.of(new OperationKey("", "c", "m1").id()))
                        .toCompletableFuture()
                        .join()
                        .values())
                .singleElement()
                .satisfies(found -> assertThat(found.state()).isEqualTo(State.IN_DOUBT));
    }

    @Test
    void executorOfADeliveryTakesHandlersAndNothingElse() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        AtomicInteger taken = new AtomicInteger();
        IdempotentConsumer<Message> slow =
                builder("c", hapax(store, "c", Policy.defaults())).handlingAsync((message, lease) -> end);
        CompletionStage<Disposition> running = slow.consumeAll(List.of(new Delivery<>(new Message("m1", "a"), task -> {
                    taken.incrementAndGet();
                    task.run();
                })))
                .get(0);
        end.complete(null);
        assertThat(join(running)).isEqualTo(new Ack());
        assertThat(taken).hasValue(1);
    }

    @Test
    void manyMessagesAreAnsweredInTheirOrder() {
        IdempotentConsumer<Message> consumer = consumer(Policy.defaults());
        List<Disposition> dispositions = consumer
                .consumeAll(List.of(
                        new Delivery<>(new Message("m1", "a"), Runnable::run),
                        new Delivery<>(new Message("", "a"), Runnable::run),
                        new Delivery<>(new Message("m2", "a"), Runnable::run)))
                .stream()
                .map(IdempotentConsumerTest::join)
                .toList();
        assertThat(dispositions).hasSize(3);
        assertThat(dispositions.get(0)).isEqualTo(new Ack());
        assertThat(dispositions.get(1)).isInstanceOf(Reject.class);
        assertThat(dispositions.get(2)).isEqualTo(new Ack());
    }

    @Test
    void aConsumerWithoutADeclaredScopeOrAKeyIsAMistake() {
        Hapax hapax = hapax(store, "c", Policy.defaults());
        assertThatThrownBy(() -> IdempotentConsumer.named("other", hapax))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not declared");
        assertThatThrownBy(() -> IdempotentConsumer.<Message>named("c", hapax).handling(handler))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("key");
    }

    /** The store, with one method that always fails. */
    private Store broken(String method, RuntimeException error) {
        return (Store) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Store.class}, (proxy, called, args) -> {
                    if (called.getName().equals("forBlockingCallers")) {
                        return proxy;
                    }
                    if (called.getName().equals("claimAll")) {
                        return ((List<?>) args[0])
                                .stream()
                                        .map(request -> ((Store) proxy).claim((dev.hapax.store.ClaimRequest) request))
                                        .toList();
                    }
                    return called.getName().equals(method)
                            ? CompletableFuture.failedFuture(error)
                            : called.invoke(store, args);
                });
    }

    private Hapax hapax(Store on, String scope, Policy policy) {
        Hapax hapax = Hapax.on(on).scope(scope, policy).withoutSweeper().build();
        opened.add(hapax);
        return hapax;
    }

    private IdempotentConsumer<Message> consumer(Policy policy) {
        return builder("c", hapax(store, "c", policy)).handling(handler);
    }

    private static IdempotentConsumer.Builder<Message> builder(String name, Hapax hapax) {
        return IdempotentConsumer.<Message>named(name, hapax)
                .key(message -> message.id().isEmpty() ? null : message.id())
                .payload(Message::bytes)
                .backoff(BACKOFF);
    }

    private static Disposition consume(IdempotentConsumer<Message> consumer, Message message) {
        return join(consumer.consume(message, Runnable::run));
    }

    private static Disposition join(CompletionStage<Disposition> stage) {
        return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    }

    private static String reason(Disposition disposition) {
        return ((Reject) disposition).reason();
    }
}
