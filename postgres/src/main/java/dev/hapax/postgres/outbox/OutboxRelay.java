package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Publisher;
import dev.hapax.store.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Hands what was appended to the {@link Outbox} to a {@link Publisher}, on a thread of its own, until it is closed. Any
 * number of relays may run, in any number of processes; they share the work. Safe for use by many threads.
 *
 * <pre>{@code
 * OutboxRelay relay = OutboxRelay.over(dataSource, publisher).start();
 * }</pre>
 *
 * <p><b>At least once, in order.</b> Every message is published; twice where a relay goes away between the broker's
 * answer and its own commit, or is stopped for longer than its lease, and then with the same id. For each topic and
 * aggregate, a message is first published only after the one before it was. A message that fails is tried again after a
 * pause; its aggregate waits and the others go on. One that is refused, or has failed {@code maxAttempts} times, is
 * parked: see {@link OutboxInspector} and {@link WhenParked}.
 *
 * <p><b>No connection is held while a broker is waited for.</b> A claim is a lease with a token, decided by one
 * statement; whoever outlives its lease can change nothing any more.
 */
public final class OutboxRelay implements AutoCloseable {
    private final RelayLoop loop;
    private final Thread thread;
    private final @Nullable Listening listening;
    private final Duration longestClose;

    private OutboxRelay(Builder builder) {
        RelaySettings settings = builder.settings();
        Database database = new Database(builder.dataSource, builder.ioTimeout);
        loop = new RelayLoop(
                new OutboxTable(database, builder.whenParked),
                database,
                builder.publisher,
                settings,
                new Told(builder.listeners));
        longestClose = settings.lease().plus(builder.ioTimeout);
        thread = daemon(loop, "hapax-outbox-relay");
        listening = builder.listening(loop::wake);
        thread.start();
        if (listening != null) {
            daemon(listening, "hapax-outbox-listener").start();
        }
    }

    /** Begins with where messages are and where they go. The data source is used for one short statement at a time. */
    public static Builder over(DataSource dataSource, Publisher publisher) {
        return new Builder(dataSource, publisher);
    }

    /**
     * Has the relay look for messages now. For who has just committed some, in the same process; a relay that is not
     * woken finds them within a second. Cheap, and never waits.
     */
    public void wake() {
        loop.wake();
    }

    /**
     * Claims no more, waits for what is under way, at most for a lease, and stops. What was not answered by then is
     * published again by others. Closing twice does nothing.
     */
    @Override
    public void close() {
        if (listening != null) {
            listening.close();
        }
        loop.close();
        try {
            thread.join(longestClose.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Collects the settings of a relay. Not safe for use by many threads. */
    public static final class Builder {
        private final DataSource dataSource;
        private final Publisher publisher;
        private final List<OutboxListener> listeners = new ArrayList<>();
        private int batch = 500;
        private Duration lease = Duration.ofSeconds(30);
        private Duration publishTimeout = Duration.ofSeconds(10);
        private Duration pollEvery = Duration.ofSeconds(1);
        private Duration lagEvery = Duration.ofSeconds(15);
        private Duration ioTimeout = Duration.ofSeconds(10);
        private Duration firstPause = Duration.ofSeconds(1);
        private Duration longestPause = Duration.ofMinutes(10);
        private int maxAttempts = 50;
        private WhenParked whenParked = WhenParked.WAIT;
        private @Nullable DataSource listenOn;
        private @Nullable Notifications notifications;

        private Builder(DataSource dataSource, Publisher publisher) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
            this.publisher = Objects.requireNonNull(publisher, "publisher");
        }

        /** How many messages one claim takes at most; twice as many may be under way. 500 unless set. */
        public Builder batch(int messages) {
            this.batch = messages;
            return this;
        }

        /**
         * How long the messages of a relay that went away wait for another one; at least twice the
         * {@code publishTimeout}. 30 seconds unless set.
         */
        public Builder lease(Duration lease) {
            this.lease = Durations.requirePositive(lease, "lease");
            return this;
        }

        /** How long the publisher may take for a message before that counts as failed. 10 seconds unless set. */
        public Builder publishTimeout(Duration publishTimeout) {
            this.publishTimeout = Durations.requirePositive(publishTimeout, "publishTimeout");
            return this;
        }

        /** How often to look for messages without being woken, give or take a fifth. A second unless set. */
        public Builder pollEvery(Duration pollEvery) {
            this.pollEvery = Durations.requirePositive(pollEvery, "pollEvery");
            return this;
        }

        /** How often to fail before a message is parked. 50 unless set: with the usual pauses, some six hours. */
        public Builder maxAttempts(int maxAttempts) {
            this.maxAttempts = maxAttempts;
            return this;
        }

        /** The pauses between attempts: they double, less up to a half by chance. 1 second to 10 minutes unless set. */
        public Builder backoff(Duration first, Duration longest) {
            this.firstPause = Durations.requirePositive(first, "the first pause");
            this.longestPause = Durations.requirePositive(longest, "the longest pause");
            return this;
        }

        /** What becomes of the messages behind one that is parked. {@link WhenParked#WAIT} unless set. */
        public Builder whenParked(WhenParked whenParked) {
            this.whenParked = Objects.requireNonNull(whenParked, "whenParked");
            return this;
        }

        /** Adds a listener. */
        public Builder listener(OutboxListener listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
            return this;
        }

        /** How often listeners hear how far behind the relays are; it counts all rows. 15 seconds unless set. */
        public Builder lagEvery(Duration lagEvery) {
            this.lagEvery = Durations.requirePositive(lagEvery, "lagEvery");
            return this;
        }

        /** How long to wait for an answer of the database before the connection counts as broken. 10 s unless set. */
        public Builder ioTimeout(Duration ioTimeout) {
            this.ioTimeout = Durations.requirePositive(ioTimeout, "ioTimeout");
            return this;
        }

        /**
         * Has the relay woken by {@link Outbox#notifying()} in other processes. Takes one connection and keeps it, so
         * it must lead to PostgreSQL itself and not through a pooler in transaction mode.
         */
        public Builder listen(DataSource dataSource, Notifications notifications) {
            this.listenOn = Objects.requireNonNull(dataSource, "dataSource");
            this.notifications = Objects.requireNonNull(notifications, "notifications");
            return this;
        }

        /** @throws IllegalArgumentException when settings contradict each other */
        public OutboxRelay start() {
            return new OutboxRelay(this);
        }

        private RelaySettings settings() {
            return new RelaySettings(
                    batch,
                    lease,
                    publishTimeout,
                    ioTimeout,
                    pollEvery,
                    lagEvery,
                    maxAttempts,
                    new Backoff(firstPause, longestPause));
        }

        private @Nullable Listening listening(Runnable hint) {
            return listenOn == null || notifications == null ? null : new Listening(listenOn, notifications, hint);
        }
    }
}
