package dev.hapax.messaging.kafka;

import dev.hapax.messaging.Delivery;
import dev.hapax.messaging.Disposition;
import dev.hapax.messaging.Disposition.Ack;
import dev.hapax.messaging.Disposition.Reject;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.messaging.IdempotentConsumer;
import dev.hapax.messaging.Turn;
import dev.hapax.messaging.internal.CompletionErrors;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Submits records to the engine and carries out its dispositions. Safe for use by many threads. */
final class RecordSubmitter implements OrderedQueue.Submitter {
    private static final Logger log = LoggerFactory.getLogger(RecordSubmitter.class);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(2);

    private final IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer;
    private final DeadLetterSender deadLetters;
    private final Consumer<RejectedRecordException> stop;

    /** @param stop stops the loop, with the reason */
    RecordSubmitter(
            IdempotentConsumer<ConsumerRecord<byte[], byte[]>> consumer,
            DeadLetterSender deadLetters,
            Consumer<RejectedRecordException> stop) {
        this.consumer = consumer;
        this.deadLetters = deadLetters;
        this.stop = stop;
    }

    @Override
    public void submit(List<PendingRecord> records) {
        if (records.isEmpty()) {
            return;
        }
        List<CompletionStage<Disposition>> dispositions;
        try {
            dispositions = consumer.consumeAll(
                    records.stream().map(RecordSubmitter::delivery).toList());
        } catch (Throwable broken) { // whatever it is: a record without a report would block its queue for ever
            Disposition later = retry(broken);
            records.forEach(pending -> report(pending, later));
            return;
        }
        for (int i = 0; i < records.size(); i++) {
            PendingRecord pending = records.get(i);
            dispositions
                    .get(i)
                    .thenCompose(disposition -> carryOut(pending.record, disposition))
                    .exceptionally(RecordSubmitter::retry)
                    .thenAccept(disposition -> report(pending, disposition));
        }
    }

    private static Delivery<ConsumerRecord<byte[], byte[]>> delivery(PendingRecord pending) {
        return new Delivery<>(
                pending.record, handler -> pending.queue.claimed(pending, handler), new QueueTurn(pending));
    }

    private static void report(PendingRecord pending, Disposition disposition) {
        if (disposition instanceof RetryLater later) {
            pending.queue.retryLater(pending, later.delay());
        } else {
            pending.queue.settle(pending);
        }
    }

    private CompletionStage<Disposition> carryOut(ConsumerRecord<byte[], byte[]> record, Disposition disposition) {
        return disposition.fold(
                CompletableFuture::completedFuture,
                later -> {
                    log.debug("{} is retried: {}", RejectedRecordException.position(record), later.reason());
                    return CompletableFuture.completedFuture(later);
                },
                reject -> deadLetter(record, reject));
    }

    /** Only a letter that is known to be kept settles the record. */
    private CompletionStage<Disposition> deadLetter(ConsumerRecord<byte[], byte[]> record, Reject reject) {
        log.warn(
                "Consumer {} rejects {}: {}",
                consumer.name(),
                RejectedRecordException.position(record),
                reject.reason());
        return deadLetters
                .send(new DeadLetter(record, consumer.name(), reject.reason()))
                .handle((kept, error) -> {
                    Throwable cause = error == null ? null : CompletionErrors.cause(error);
                    if (cause == null) {
                        return new Ack();
                    }
                    if (cause instanceof RejectedRecordException rejected) {
                        stop.accept(rejected);
                    } else {
                        log.warn(
                                "Consumer {} could not keep a dead letter and retries: {}",
                                consumer.name(),
                                cause.toString());
                    }
                    return new RetryLater(RETRY_DELAY, "its dead letter could not be kept");
                });
    }

    private static Disposition retry(Throwable error) {
        log.error("A record could not be handled", error);
        return new RetryLater(RETRY_DELAY, error.toString());
    }

    /** The record's turn, which its queue decides. */
    private record QueueTurn(PendingRecord pending) implements Turn {
        @Override
        public boolean mayBegin() {
            return pending.queue.mayBegin(pending);
        }

        @Override
        public void returned(boolean forGood) {
            pending.queue.returned(pending, forGood);
        }
    }
}
