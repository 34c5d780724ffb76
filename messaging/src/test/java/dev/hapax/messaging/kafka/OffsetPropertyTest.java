package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/**
 * Random outcomes and rebalances against {@link PartitionWork}, in random order, on one thread: the committed offset
 * never passes an unsettled record, no record overtakes another one of its queue, and in the end everything is settled
 * and committed.
 */
class OffsetPropertyTest {
    private static final int RUNS = 400;

    @Test
    void committedOffsetNeverPassesAnUnsettledRecord() {
        long seed = new Random().nextLong();
        Random seeds = new Random(seed);
        for (int i = 0; i < RUNS; i++) {
            long each = seeds.nextLong();
            try {
                new History(new Random(each)).run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("history with seed " + each + " (of " + seed + ")", e);
            }
        }
    }

    private static final class History {
        private final Random random;
        private final Ordering ordering;
        private final TreeMap<Long, ConsumerRecord<byte[], byte[]>> log = new TreeMap<>();
        private final Set<Long> terminal = new HashSet<>();
        private final Map<Long, PendingRecord> owners = new HashMap<>();
        private final List<Runnable> events = new ArrayList<>();
        private final Set<Long> returned = new HashSet<>();
        private PartitionWork work;
        private long committed;
        private long position;
        private long now;
        private boolean calm;
        private int rebalances;

        History(Random random) {
            this.random = random;
            this.ordering = random.nextBoolean() ? Ordering.BY_PARTITION : Ordering.BY_KEY;
            long offset = random.nextInt(5);
            int records = 1 + random.nextInt(80);
            for (int i = 0; i < records; i++) {
                byte[] key =
                        random.nextInt(10) == 0 ? null : ("k" + random.nextInt(4)).getBytes(StandardCharsets.UTF_8);
                log.put(offset, new ConsumerRecord<>("t", 0, offset, key, new byte[0]));
                offset += 1 + random.nextInt(random.nextInt(4) == 0 ? 5 : 1);
            }
            committed = log.firstKey();
            begin();
        }

        void run() {
            for (int step = 0; step < 600; step++) {
                step();
            }
            calm = true;
            for (int step = 0; step < 20_000 && committed <= log.lastKey(); step++) {
                step();
            }
            assertThat(committed)
                    .as("committed in the end, after %d rebalances", rebalances)
                    .isGreaterThan(log.lastKey());
            assertThat(terminal).containsAll(log.keySet());
        }

        private void step() {
            now += random.nextInt(50_000_000);
            int choice = random.nextInt(20);
            if (choice < 3) {
                fetch();
            } else if (choice < 5) {
                submit(work.takeSubmittable());
            } else if (choice < 7) {
                commit();
            } else if (choice == 7 && !calm && random.nextInt(5) == 0) {
                rebalance();
            } else if (!events.isEmpty()) {
                events.remove(random.nextInt(events.size())).run();
            }
            if (!terminal.containsAll(log.headMap(committed).keySet())) {
                throw new AssertionError("committed %d, settled %s".formatted(committed, terminal));
            }
        }

        private void begin() {
            work = new PartitionWork(
                    new PartitionWork.Settings(ordering, Integer.MAX_VALUE, Long.MAX_VALUE),
                    PartitionWork.Start.UNKNOWN,
                    () -> now,
                    settled -> new OrderedQueue(this::submit, this::later, () -> now, settled));
            work.started(committed);
            position = committed;
            returned.clear();
        }

        private void later(Runnable task) {
            if (random.nextInt(20) == 0) {
                throw new RejectedExecutionException("busy");
            }
            events.add(task);
        }

        private void fetch() {
            int most = random.nextInt(20);
            for (ConsumerRecord<byte[], byte[]> record :
                    new ArrayList<>(log.tailMap(position).values())) {
                if (most-- == 0) {
                    return;
                }
                work.add(record);
                position = record.offset() + 1;
            }
        }

        private void commit() {
            work.committable().ifPresent(offset -> {
                if (calm || random.nextInt(4) > 0) { // the others are lost on their way
                    work.committed(offset);
                    committed = offset;
                }
            });
        }

        /** The partition is taken away and comes back; late answers still reach what there was before. */
        private void rebalance() {
            rebalances++;
            work.close();
            for (int i = random.nextInt(10); i > 0 && !events.isEmpty(); i--) {
                events.remove(random.nextInt(events.size())).run();
            }
            if (random.nextBoolean()) {
                commit();
            }
            begin();
        }

        private void submit(List<PendingRecord> records) {
            records.forEach(it -> events.add(() -> claim(it)));
        }

        private void claim(PendingRecord pending) {
            long offset = pending.record.offset();
            if (terminal.contains(offset)) {
                pending.queue.settle(pending);
            } else if (owners.containsKey(offset) || (!calm && random.nextInt(10) == 0)) {
                pending.queue.retryLater(pending, delay());
            } else if (!calm && random.nextInt(20) == 0) {
                terminal.add(offset); // rejected, and kept as a dead letter
                pending.queue.settle(pending);
            } else {
                owners.put(offset, pending);
                try {
                    pending.queue.claimed(pending, () -> handle(pending, work));
                } catch (RejectedExecutionException refused) {
                    release(pending);
                }
            }
        }

        private void handle(PendingRecord pending, PartitionWork when) {
            if (!pending.queue.mayBegin(pending)) {
                events.add(() -> release(pending));
                return;
            }
            if (when == work) {
                for (long offset : inFront(pending)) {
                    if (!returned.contains(offset) && !terminal.contains(offset)) {
                        throw new AssertionError(
                                "%d begins before %d has returned".formatted(pending.record.offset(), offset));
                    }
                }
            }
            Runnable end = () -> {
                boolean forGood = calm || random.nextInt(5) > 0;
                if (forGood && when == work) {
                    returned.add(pending.record.offset());
                }
                pending.queue.returned(pending, forGood);
                events.add(() -> store(pending, forGood));
            };
            if (random.nextBoolean()) {
                end.run();
            } else {
                events.add(end);
            }
        }

        private List<Long> inFront(PendingRecord pending) {
            return log.headMap(pending.record.offset()).values().stream()
                    .filter(other -> ordering == Ordering.BY_PARTITION
                            || (other.key() != null && Arrays.equals(other.key(), pending.record.key())))
                    .map(ConsumerRecord::offset)
                    .toList();
        }

        private void store(PendingRecord pending, boolean forGood) {
            if (forGood && (calm || random.nextInt(10) > 0)) {
                terminal.add(pending.record.offset());
                owners.remove(pending.record.offset());
                pending.queue.settle(pending);
            } else {
                release(pending);
            }
        }

        private void release(PendingRecord pending) {
            owners.remove(pending.record.offset());
            pending.queue.retryLater(pending, delay());
        }

        private Duration delay() {
            return Duration.ofMillis(random.nextInt(300));
        }
    }
}
