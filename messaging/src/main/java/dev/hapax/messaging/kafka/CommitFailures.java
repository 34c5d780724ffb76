package dev.hapax.messaging.kafka;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns once when commits fail again and again, and says when they succeed again. Single failures are normal while a
 * group rebalances. Belongs to the loop's thread.
 */
final class CommitFailures {
    private static final Logger log = LoggerFactory.getLogger(CommitFailures.class);
    static final int FAILURES_BEFORE_WARNING = 20;

    private final String consumer;
    private int inARow;

    CommitFailures(String consumer) {
        this.consumer = consumer;
    }

    void failed(Throwable error) {
        log.debug("Consumer {} could not commit now: {}", consumer, error.toString());
        if (++inARow == FAILURES_BEFORE_WARNING) {
            log.warn(
                    "Consumer {} could not commit {} times in a row, and goes on trying. Records are handled, but those"
                            + " after the last commit are delivered again after a restart. The last error: {}",
                    consumer,
                    inARow,
                    error.toString());
        }
    }

    void succeeded() {
        if (inARow >= FAILURES_BEFORE_WARNING) {
            log.info("Consumer {} commits again, after {} failures", consumer, inARow);
        }
        inARow = 0;
    }
}
