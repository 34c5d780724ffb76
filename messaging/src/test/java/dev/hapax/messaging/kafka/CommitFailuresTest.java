package dev.hapax.messaging.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class CommitFailuresTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(CommitFailures.class);
    private final Level before = logger.getLevel();
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final CommitFailures failures = new CommitFailures("mailer");

    @BeforeEach
    void listen() {
        logger.setLevel(Level.INFO);
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(logged);
        logger.setLevel(before);
    }

    @Test
    void failuresInARowAreWarnedAboutOnce() {
        fail(3 * CommitFailures.FAILURES_BEFORE_WARNING);
        assertThat(levels()).containsExactly(Level.WARN);
        assertThat(logged.list.get(0).getFormattedMessage()).contains("mailer", "no answer");
        failures.succeeded();
        failures.succeeded();
        assertThat(levels()).containsExactly(Level.WARN, Level.INFO);
    }

    @Test
    void singleFailuresAreNotWarnedAbout() {
        for (int i = 0; i < 3; i++) {
            fail(CommitFailures.FAILURES_BEFORE_WARNING - 1);
            failures.succeeded();
        }
        assertThat(levels()).isEmpty();
    }

    private void fail(int count) {
        for (int i = 0; i < count; i++) {
            failures.failed(new IllegalStateException("no answer"));
        }
    }

    private List<Level> levels() {
        return logged.list.stream().map(ILoggingEvent::getLevel).toList();
    }
}
