package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.store.OperationId;
import dev.hapax.testkit.AtOnce;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that finds a request queued may come too late to send it: another thread has sent it meanwhile. */
@Timeout(60)
class EmptyBatchTest {
    private final ScheduledExecutorService workers = Executors.newScheduledThreadPool(2);
    private final AtomicInteger empty = new AtomicInteger();

    private final class CountsEmptyBatches implements BatchWork<OperationId, String> {
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
            if (requests.isEmpty()) {
                empty.incrementAndGet();
            }
            return Collections.nCopies(requests.size(), Decision.answer("done"));
        }
    }

    @AfterEach
    void close() {
        workers.shutdownNow();
    }

    @Test
    void emptyBatchIsNotSent() throws Exception {
        try (HikariDataSource pool = TestDatabase.empty().pool(4)) {
            BatcherSettings settings =
                    new BatcherSettings(new Sessions(pool, Duration.ofSeconds(10)), 512, workers, workers, true);
            Batcher<OperationId, String> batcher = new Batcher<>(new CountsEmptyBatches(), settings);
            AtOnce.call(4, () -> {
                for (int i = 0; i < 20_000; i++) {
                    assertThat(batcher.submitAndWait(new OperationId(UUID.randomUUID())))
                            .isCompletedWithValue("done");
                }
                return true;
            });
        }
        assertThat(empty).hasValue(0);
    }
}
