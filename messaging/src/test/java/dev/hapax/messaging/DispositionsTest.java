package dev.hapax.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.NotBegunException;
import dev.hapax.Policy;
import dev.hapax.messaging.Disposition.RetryLater;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class DispositionsTest {
    private final Dispositions dispositions = new Dispositions(Policy.defaults(), Backoff.defaults(), null);

    @Test
    void exceptionOfAHandlerIsItsFailure() {
        for (Throwable thrown : List.of(new IllegalStateException(), new RejectedExecutionException(), new Error())) {
            assertThat(handlerFailed(thrown, 1)).as("%s", thrown).isTrue();
        }
    }

    @Test
    void handlerThatDidNotRunHasNotFailed() {
        assertThat(handlerFailed(new RejectedExecutionException(), 0)).isFalse();
        assertThat(handlerFailed(new IllegalStateException("from around it"), 0))
                .isFalse();
        assertThat(handlerFailed(new NotBegunException("the circuit is open"), 1))
                .isFalse();
    }

    @Test
    void failureOfTheStoreIsNotTheHandlers() {
        assertThat(handlerFailed(new StoreUnavailableException("away", null), 1))
                .isFalse();
        assertThat(handlerFailed(new StoreException("disk full", null), 1)).isFalse();
    }

    private boolean handlerFailed(Throwable thrown, int attempt) {
        return ((RetryLater) dispositions.of(thrown, attempt)).handlerFailed();
    }
}
