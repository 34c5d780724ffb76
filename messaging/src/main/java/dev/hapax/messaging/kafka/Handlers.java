package dev.hapax.messaging.kafka;

import dev.hapax.messaging.Delivery;
import dev.hapax.messaging.Disposition;
import dev.hapax.messaging.Disposition.Ack;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.messaging.IdempotentConsumer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the engine for records and carries out what it says of them. Safe for use by many threads. */
final class Handlers implements Lane.Asking {
    private static final Logger log = LoggerFactory.getLogger(Handlers.class);
    private static final Duration PAUSE = Duration.ofSeconds(2);

    private final IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer;
    private final DeadLetters deadLetters;
    private final Executor threads;
    private final Consumer<Throwable> fail;

    /** @param fail stops the loop */
    Handlers(
            IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer,
            DeadLetters deadLetters,
            Executor threads,
            Consumer<Throwable> fail) {
        this.consumer = consumer;
        this.deadLetters = deadLetters;
        this.threads = threads;
        this.fail = fail;
    }

    @Override
    public void ask(List<Slot> slots) {
        if (slots.isEmpty()) {
            return;
        }
        List<CompletionStage<Disposition>> answers = consumer.consumeAll(slots.stream()
                .map(slot -> new Delivery<>(slot.record, slot, slot))
                .toList());
        for (int i = 0; i < slots.size(); i++) {
            Slot slot = slots.get(i);
            answers.get(i)
                    .thenCompose(disposition -> carryOut(slot.record, disposition))
                    .exceptionally(Handlers::again)
                    .thenAccept(disposition -> slot.lane().answered(slot, disposition));
        }
    }

    private CompletionStage<Disposition> carryOut(ConsumerRecord<byte[], byte[]> record, Disposition disposition) {
        return disposition.fold(
                CompletableFuture::completedFuture,
                later -> {
                    log.debug("{} comes back: {}", RejectedRecordException.position(record), later.reason());
                    return CompletableFuture.completedFuture(later);
                },
                reject -> bury(record, reject));
    }

    /** Only a letter that is known to be kept lets the record go. */
    private CompletionStage<Disposition> bury(ConsumerRecord<byte[], byte[]> record, Reject reject) {
        log.warn(
                "Consumer {} rejects {}: {}",
                consumer.name(),
                RejectedRecordException.position(record),
                reject.reason());
        return kept(new DeadLetter(record, consumer.name(), reject.reason())).handle((kept, error) -> {
            Throwable cause = cause(error);
            if (cause == null) {
                return new Ack();
            }
            if (cause instanceof RejectedRecordException) {
                fail.accept(cause);
            } else {
                log.warn("A dead letter of consumer {} could not be kept: {}", consumer.name(), cause.toString());
            }
            return new RetryLater(PAUSE, "its dead letter could not be kept");
        });
    }

    /** On a handler's thread: a producer may block, and the thread at hand is the engine's. */
    private CompletionStage<?> kept(DeadLetter letter) {
        try {
            return CompletableFuture.supplyAsync(
                            () -> Objects.requireNonNull(deadLetters.keep(letter), "no stage for a dead letter"),
                            threads)
                    .thenCompose(kept -> kept);
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private static Disposition again(Throwable error) {
        log.error("A record could not be handled", error);
        return new RetryLater(PAUSE, error.toString());
    }

    private static @Nullable Throwable cause(@Nullable Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
