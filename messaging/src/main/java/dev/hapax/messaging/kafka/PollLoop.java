package dev.hapax.messaging.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that talks to the Kafka consumer.
 *
 * <p>Round after round: poll, ask the engine for everything that came in one batch, commit what is done with, pause the
 * partitions that have enough to do and resume those that have not. It polls on while everything is paused, which is
 * how Kafka knows that the consumer lives. Partitions whose first record has to come back stay paused until it was
 * handled.
 */
final class PollLoop implements Runnable, ConsumerRebalanceListener {
    private static final Logger log = LoggerFactory.getLogger(PollLoop.class);
    private static final Duration BUSY_POLL = Duration.ofMillis(10);
    private static final Duration IDLE_POLL = Duration.ofMillis(100);
    private static final Duration ERROR_PAUSE = Duration.ofSeconds(1);
    private static final Duration QUIET_CHECK = Duration.ofMillis(2);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

    private final Consumer<byte[], byte[]> kafka;
    private final List<String> topics;
    private final Duration handOver;
    private final Duration commitEvery;
    private final int maxInFlight;
    private final String name;
    private final Ordering ordering;
    private final Handlers handlers;
    private final @Nullable ThreadPoolExecutor own;
    private final Executor threads;
    private final Map<TopicPartition, PartitionWork> work = new LinkedHashMap<>();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean stopping;
    private boolean committing;
    private long committedAt;

    PollLoop(KafkaConsumerLoop.Builder settings) {
        this.kafka = settings.kafka;
        this.topics = settings.topics;
        this.handOver = settings.handOver;
        this.commitEvery = settings.commitEvery;
        this.maxInFlight = settings.maxInFlight;
        this.name = settings.consumer.name();
        this.ordering = settings.ordering;
        this.own = settings.executor == null ? pool(settings.threads, name) : null;
        this.threads = own == null ? Objects.requireNonNull(settings.executor) : own;
        this.handlers =
                new Handlers(settings.consumer, Objects.requireNonNull(settings.deadLetters), threads, this::fail);
        this.committedAt = System.nanoTime() - commitEvery.toNanos();
    }

    CompletableFuture<Void> stopped() {
        return stopped;
    }

    void stop() {
        stopping = true;
    }

    private void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
        stopping = true;
    }

    @Override
    public void run() {
        try {
            if (!topics.isEmpty()) {
                kafka.subscribe(topics, this);
            }
            while (!stopping) {
                round();
            }
        } catch (RuntimeException | Error broken) {
            log.error("The loop of consumer {} stops", name, broken);
            fail(broken);
        } finally {
            end();
        }
    }

    private void round() {
        for (ConsumerRecord<byte[], byte[]> record : poll()) {
            TopicPartition partition = new TopicPartition(record.topic(), record.partition());
            work.computeIfAbsent(partition, it -> newPartition()).add(record);
        }
        List<Slot> due = new ArrayList<>();
        work.values().forEach(it -> due.addAll(it.due()));
        handlers.ask(due);
        commitIfDue();
        pauseAndResume();
    }

    private PartitionWork newPartition() {
        return new PartitionWork(ordering, done -> new Lane(handlers, threads, System::nanoTime, done));
    }

    private Iterable<ConsumerRecord<byte[], byte[]>> poll() {
        boolean busy = work.values().stream().anyMatch(it -> it.inFlight() > 0);
        try {
            return kafka.poll(busy ? BUSY_POLL : IDLE_POLL);
        } catch (WakeupException woken) {
            return List.of();
        } catch (RetriableException e) {
            log.warn("Consumer {} cannot poll now: {}", name, e.toString());
            LockSupport.parkNanos(ERROR_PAUSE.toNanos());
            return List.of();
        }
    }

    private void commitIfDue() {
        long now = System.nanoTime();
        Map<TopicPartition, OffsetAndMetadata> offsets = committable(work.keySet());
        if (committing || offsets.isEmpty() || now - committedAt < commitEvery.toNanos()) {
            return;
        }
        committing = true;
        committedAt = now;
        kafka.commitAsync(offsets, (sent, error) -> {
            committing = false;
            if (error == null) {
                committed(sent);
            } else {
                log.debug("Consumer {} could not commit now: {}", name, error.toString());
            }
        });
    }

    private Map<TopicPartition, OffsetAndMetadata> committable(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition partition : partitions) {
            PartitionWork it = work.get(partition);
            if (it != null) {
                it.committable().ifPresent(offset -> offsets.put(partition, new OffsetAndMetadata(offset)));
            }
        }
        return offsets;
    }

    private void committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((partition, offset) -> {
            PartitionWork it = work.get(partition);
            if (it != null) {
                it.committed(offset.offset());
            }
        });
    }

    private void pauseAndResume() {
        Set<TopicPartition> assigned = kafka.assignment();
        if (assigned.isEmpty()) {
            return;
        }
        int share = Math.max(1, maxInFlight / assigned.size());
        Set<TopicPartition> paused = kafka.paused();
        Set<TopicPartition> pause = new HashSet<>();
        Set<TopicPartition> resume = new HashSet<>(paused);
        resume.retainAll(assigned);
        for (TopicPartition partition : assigned) {
            PartitionWork it = work.get(partition);
            int enough = paused.contains(partition) ? (share + 1) / 2 : share;
            if (it != null && (it.isBlocked() || it.inFlight() >= enough)) {
                pause.add(partition);
                resume.remove(partition);
            }
        }
        pause.removeAll(paused);
        if (!pause.isEmpty()) {
            kafka.pause(pause);
        }
        if (!resume.isEmpty()) {
            kafka.resume(resume);
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        log.debug("Consumer {} got {}", name, partitions);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        log.debug("Consumer {} gives up {}", name, partitions);
        handOver(new ArrayList<>(partitions));
    }

    /** They belong to somebody else already: nothing may be committed, and nothing is to be waited for. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        log.warn("Consumer {} lost {}", name, partitions);
        for (TopicPartition partition : partitions) {
            PartitionWork lost = work.remove(partition);
            if (lost != null) {
                lost.close();
            }
        }
    }

    private void handOver(Collection<TopicPartition> partitions) {
        List<PartitionWork> given =
                partitions.stream().map(work::get).filter(Objects::nonNull).toList();
        given.forEach(PartitionWork::close);
        long until = System.nanoTime() + handOver.toNanos();
        while (given.stream().anyMatch(PartitionWork::isOpen) && until - System.nanoTime() > 0) {
            LockSupport.parkNanos(QUIET_CHECK.toNanos());
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = committable(partitions);
        try {
            if (!offsets.isEmpty()) {
                kafka.commitSync(offsets, CLOSE_PATIENCE);
            }
        } catch (KafkaException e) {
            log.warn("Consumer {} could not commit what it gives up: {}", name, e.toString());
        }
        partitions.forEach(work::remove);
    }

    private void end() {
        try {
            handOver(new ArrayList<>(work.keySet()));
        } finally {
            try {
                kafka.close(CloseOptions.timeout(CLOSE_PATIENCE));
            } catch (RuntimeException e) {
                log.warn("Consumer {} could not leave its group: {}", name, e.toString());
            }
            if (own != null) {
                own.shutdown();
            }
            Throwable cause = failure.get();
            if (cause == null) {
                stopped.complete(null);
            } else {
                stopped.completeExceptionally(cause);
            }
        }
    }

    private static ThreadPoolExecutor pool(int threads, String name) {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "hapax-kafka-" + name + "-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
