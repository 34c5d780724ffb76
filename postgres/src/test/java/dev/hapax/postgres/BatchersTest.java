package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.store.OperationId;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many batchers are used depends on how much there is to do. */
class BatchersTest {
    private final TestDatabase database = TestDatabase.migrated();
    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
    private final BatcherSettings settings =
            new BatcherSettings(new Sessions(database.unpooled(), Duration.ofSeconds(10)), 512, threads, threads, true);
    private final Batchers<OperationId, String> batchers = new Batchers<>(2, new Echo(), settings);

    private static final class Echo implements BatchWork<OperationId, String> {
        @Override
        public OperationId id(OperationId request) {
            return request;
        }

        @Override
        public Duration lockWaitTimeout(OperationId request) {
            return Duration.ZERO;
        }

        @Override
        public List<Decision<String>> run(Session session, LockWait wait, List<OperationId> requests) {
            return Collections.nCopies(requests.size(), Decision.answer("done"));
        }
    }

    @AfterEach
    void close() {
        threads.shutdown();
    }

    @Test
    void fewCallersShareOneBatcher() {
        batches(50, 10);

        assertThat(used()).containsOnly(batchers.first());
    }

    @Test
    void manyCallersUseAllBatchers() {
        batches(20, 100);

        assertThat(used()).hasSize(2);
    }

    @Test
    void fewRemainingCallersShareOneBatcherAgain() {
        batches(20, 100);
        batches(50, 1);

        assertThat(used()).containsOnly(batchers.first());
    }

    private void batches(int count, int requests) {
        for (int i = 0; i < count; i++) {
            List<CompletableFuture<String>> answers =
                    batchers.first().submitAll(ids().limit(requests).toList());
            assertThat(answers).allSatisfy(answer -> assertThat(answer.join()).isEqualTo("done"));
        }
    }

    private List<Batcher<OperationId, String>> used() {
        return ids().limit(100).map(batchers::of).distinct().toList();
    }

    private static Stream<OperationId> ids() {
        return Stream.generate(() -> new OperationId(UUID.randomUUID()));
    }
}
