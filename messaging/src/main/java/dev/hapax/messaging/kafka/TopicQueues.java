package dev.hapax.messaging.kafka;

import dev.hapax.messaging.internal.DaemonThreads;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of sends for each topic, each emptied by one thread at a time. A producer blocks while it does not know a
 * topic, so a topic that does not exist blocks its own queue and no other. Once a send has waited in vain, the sends
 * behind it are abandoned: they would wait in vain as well.
 *
 * <p>The number of threads is bounded. Topics that were reachable the last time have threads of their own, so however
 * many topics are missing, these are not delayed. Safe for use by many threads.
 */
final class TopicQueues implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TopicQueues.class);
    private static final int THREADS = 8;

    private final Map<String, Queue<Send>> queues = new HashMap<>(); // those not empty; guarded by this
    private final Set<String> reachable = ConcurrentHashMap.newKeySet();
    private final int maxWaiting;
    private final ThreadPoolExecutor reachableSenders;
    private final ThreadPoolExecutor otherSenders;

    /** What a send says of its topic. */
    enum Reached {
        YES,
        /** The producer waited for the topic in vain. */
        NO,
        /** The producer was not asked. */
        UNKNOWN
    }

    interface Send {
        Reached run();

        /** Called instead of {@link #run} if the send before it waited in vain, and after a {@link #run} that threw. */
        void abandon();
    }

    /**
     * @param threads what the threads are called
     * @param maxWaiting how many sends to one topic may wait
     */
    TopicQueues(String threads, int maxWaiting) {
        this.maxWaiting = maxWaiting;
        this.reachableSenders = DaemonThreads.pool(THREADS, threads);
        this.otherSenders = DaemonThreads.pool(THREADS, threads + "-unreachable");
    }

    /** @throws RejectedExecutionException if this is closed, or too many sends wait */
    synchronized void add(String topic, Send send) {
        Queue<Send> queue = queues.get(topic);
        if (queue == null) {
            (reachable.contains(topic) ? reachableSenders : otherSenders).execute(() -> sendAll(topic));
            queue = new ArrayDeque<>();
            queues.put(topic, queue);
        }
        if (queue.size() >= maxWaiting) {
            throw new RejectedExecutionException(maxWaiting + " sends to " + topic + " wait");
        }
        queue.add(send);
    }

    private void sendAll(String topic) {
        Send send;
        while ((send = next(topic)) != null) {
            Reached reached = run(send);
            if (reached == Reached.YES) {
                reachable.add(topic);
            } else if (reached == Reached.NO) {
                reachable.remove(topic);
                removeAll(topic).forEach(TopicQueues::abandon);
                return;
            }
        }
    }

    /** Whatever it throws: its queue would not be emptied any more if this thread ended. */
    private static Reached run(Send send) {
        try {
            return send.run();
        } catch (Throwable e) {
            log.warn("A send failed unexpectedly", e);
            abandon(send);
            return Reached.UNKNOWN;
        }
    }

    private static void abandon(Send send) {
        try {
            send.abandon();
        } catch (Throwable e) {
            log.warn("A send could not be abandoned", e);
        }
    }

    private synchronized Collection<Send> removeAll(String topic) {
        Queue<Send> queue = queues.remove(topic);
        return queue == null ? List.of() : queue;
    }

    private synchronized @Nullable Send next(String topic) {
        Queue<Send> queue = queues.get(topic);
        Send send = queue == null ? null : queue.poll();
        if (send == null) {
            queues.remove(topic);
        }
        return send;
    }

    /** Accepts no more sends; those that were accepted are still run. */
    @Override
    public void close() {
        reachableSenders.shutdown();
        otherSenders.shutdown();
    }

    /** Accepts no more sends, drops those that wait, and interrupts those that run. */
    synchronized void abort() {
        queues.clear();
        reachableSenders.shutdownNow();
        otherSenders.shutdownNow();
    }
}
