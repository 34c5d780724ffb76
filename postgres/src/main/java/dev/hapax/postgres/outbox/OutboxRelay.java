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
 * Publishes the messages of an {@link Outbox} through a {@link Publisher}, on a thread of its own, until it is closed.
 * Any number of relays may run, in any number of processes; they share the work. Safe for use by many threads.
 *
 * <pre>{@code
 * OutboxRelay relay = OutboxRelay.over(dataSource, publisher).start();
 * }</pre>
 *
 * <p><b>At least once, in order.</b> Every message is published. If a relay crashes between the broker's answer and its
 * own commit, or is stopped for longer than its lease, the message is published again, with the same id. Within a topic
 * and aggregate, a message is first published only after the one before it was published. A message that fails is
 * retried after a pause; its aggregate waits, the others continue. A message that is refused, or has failed
 * {@code maxAttempts} times, is parked: see {@link OutboxInspector} and {@link WhenParked}.
 *
 * <p><b>No connection is held while the relay waits for a broker.</b> A claim is a lease with a token, decided by one
 * statement; after its lease has expired a relay can change nothing.
 */
public final class OutboxRelay implements AutoCloseable {
    private final RelayLoop loop;
    private final Thread thread;
    private final OutboxMaintenance maintenance;
    private final @Nullable NotificationListener notificationListener;
    private final Duration longestClose;

    private OutboxRelay(Builder builder) {
        RelaySettings settings = builder.settings();
        OutboxTable table = new OutboxTable(new Database(builder.dataSource, builder.ioTimeout), settings);
        RelayEvents events = new RelayEvents(builder.listeners);
        loop = new RelayLoop(table, builder.publisher, settings, events);
        maintenance = new OutboxMaintenance(
                table, OutboxInspector.over(builder.dataSource)::lag, builder.lagEvery, events, loop::wake);
        notificationListener = builder.notificationListener(loop::wake);
        longestClose = settings.lease().plus(builder.ioTimeout);
        thread = start(loop, "hapax-outbox-relay");
        start(maintenance, "hapax-outbox-maintenance");
        if (notificationListener != null) {
            start(notificationListener, "hapax-outbox-listener");
        }
    }

    /** Begins the settings of a relay. It uses two connections at most, each for one short statement at a time. */
    public static Builder over(DataSource dataSource, Publisher publisher) {
        return new Builder(dataSource, publisher);
    }

    /**
     * Makes the relay look for messages now: call it after a commit in the same process. Without it the relay finds
     * them within {@code pollEvery}. Cheap, and never blocks.
     */
    public void wake() {
        loop.wake();
    }

    /**
     * Claims no more, waits for the messages in flight, at most for a lease, and stops. Messages that were not answered
     * by then are published again by another relay. Closing twice does nothing.
     */
    @Override
    public void close() {
        if (notificationListener != null) {
            notificationListener.close();
        }
        maintenance.close();
        loop.close();
        try {
            thread.join(longestClose.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread start(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
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

        /** How many messages one claim leases at most; twice as many may be in flight. Default: 500. */
        public Builder batch(int messages) {
            this.batch = messages;
            return this;
        }

        /**
         * How long the messages of a crashed relay wait for another one; at least twice the {@code publishTimeout}.
         * Default: 30 s.
         */
        public Builder lease(Duration lease) {
            this.lease = Durations.requirePositive(lease, "lease");
            return this;
        }

        /**
         * How long the publisher may take for a message before it counts as failed; publishers find it in
         * {@link dev.hapax.outbox.Outgoing#timeout()}. Default: 10 s.
         */
        public Builder publishTimeout(Duration publishTimeout) {
            this.publishTimeout = Durations.requirePositive(publishTimeout, "publishTimeout");
            return this;
        }

        /** How often to look for messages without being woken, with a jitter of 20 %. Default: 1 s. */
        public Builder pollEvery(Duration pollEvery) {
            this.pollEvery = Durations.requirePositive(pollEvery, "pollEvery");
            return this;
        }

        /**
         * After how many failed attempts a message is parked. Default: 50, about five hours with the default pauses.
         */
        public Builder maxAttempts(int maxAttempts) {
            this.maxAttempts = maxAttempts;
            return this;
        }

        /** The pauses between attempts: they double, with a jitter of up to a half. Default: 1 s to 10 min. */
        public Builder backoff(Duration first, Duration longest) {
            this.firstPause = Durations.requirePositive(first, "the first pause");
            this.longestPause = Durations.requirePositive(longest, "the longest pause");
            return this;
        }

        /** What becomes of the messages behind one that is parked. Default: {@link WhenParked#WAIT}. */
        public Builder whenParked(WhenParked whenParked) {
            this.whenParked = Objects.requireNonNull(whenParked, "whenParked");
            return this;
        }

        /** Adds a listener. */
        public Builder listener(OutboxListener listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
            return this;
        }

        /** How often the lag is counted for listeners; it counts all rows, on a thread of its own. Default: 15 s. */
        public Builder lagEvery(Duration lagEvery) {
            this.lagEvery = Durations.requirePositive(lagEvery, "lagEvery");
            return this;
        }

        /** How long to wait for an answer of the database before the connection counts as broken. Default: 10 s. */
        public Builder ioTimeout(Duration ioTimeout) {
            this.ioTimeout = Durations.requirePositive(ioTimeout, "ioTimeout");
            return this;
        }

        /**
         * Wakes the relay when {@link Outbox#notifying()} commits in another process. Takes one connection and keeps
         * it, so it must lead to PostgreSQL itself and not through a pooler in transaction mode.
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
                    maxAttempts,
                    new Backoff(firstPause, longestPause),
                    whenParked);
        }

        private @Nullable NotificationListener notificationListener(Runnable wakeRelay) {
            return listenOn == null || notifications == null
                    ? null
                    : new NotificationListener(listenOn, notifications, wakeRelay);
        }
    }
}
