package dev.hapax.messaging.sqs;

import dev.hapax.messaging.Backoff;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;

/**
 * Sends entries in batches of up to ten: those that gather while other batches are under way, without a timer. Entries
 * that failed are sent again, unless it is their own fault. Safe for use by many threads.
 *
 * @param <E> an entry of a batch request
 */
final class RequestBatcher<E> {
    private static final Logger log = LoggerFactory.getLogger(RequestBatcher.class);
    private static final int MAX_BATCH_SIZE = 10;
    private static final int MAX_CONCURRENT_BATCHES = 4;
    private static final int MAX_TRIES = 8;
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));

    private final String what;
    private final Function<List<E>, CompletableFuture<List<BatchResultErrorEntry>>> call;
    private final Deque<Item<E>> waiting = new ArrayDeque<>();
    private int underWay;

    /** @param call sends a batch; the id of each entry is its place in the list */
    RequestBatcher(String what, Function<List<E>, CompletableFuture<List<BatchResultErrorEntry>>> call) {
        this.what = what;
        this.call = call;
    }

    private static final class Item<E> {
        final E entry;
        final CompletableFuture<Boolean> done = new CompletableFuture<>();
        int tries;

        Item(E entry) {
            this.entry = entry;
        }
    }

    /**
     * Queues an entry for {@link #send}. Completes with whether SQS carried it out, and never fails. A caller that
     * completes it keeps the entry from being sent, or sent again.
     */
    CompletableFuture<Boolean> add(E entry) {
        Item<E> item = new Item<>(entry);
        synchronized (this) {
            waiting.add(item);
        }
        return item.done;
    }

    /** Sends queued entries: full batches, and a smaller one if nothing else is under way. */
    void send() {
        for (List<Item<E>> batch = take(); !batch.isEmpty(); batch = take()) {
            send(batch);
        }
    }

    private synchronized List<Item<E>> take() {
        boolean now = underWay == 0 || (underWay < MAX_CONCURRENT_BATCHES && waiting.size() >= MAX_BATCH_SIZE);
        List<Item<E>> batch = new ArrayList<>();
        while (now && batch.size() < MAX_BATCH_SIZE && !waiting.isEmpty()) {
            Item<E> item = waiting.remove();
            if (!item.done.isDone()) {
                batch.add(item);
            }
        }
        underWay += batch.isEmpty() ? 0 : 1;
        return batch;
    }

    private void send(List<Item<E>> batch) {
        request(batch).whenComplete((failed, error) -> {
            synchronized (this) {
                underWay--;
            }
            if (error != null) {
                log.debug("{} of {} messages failed: {}", what, batch.size(), error.toString());
                batch.forEach(this::retry);
            } else {
                settle(batch, failed);
            }
            send();
        });
    }

    private CompletableFuture<List<BatchResultErrorEntry>> request(List<Item<E>> batch) {
        try {
            return Objects.requireNonNull(
                    call.apply(batch.stream().map(it -> it.entry).toList()), "the client returned no future");
        } catch (Throwable broken) { // otherwise the batch would count as under way for ever
            return CompletableFuture.failedFuture(broken);
        }
    }

    private void settle(List<Item<E>> batch, List<BatchResultErrorEntry> failed) {
        Map<String, BatchResultErrorEntry> byId =
                failed.stream().collect(Collectors.toMap(BatchResultErrorEntry::id, it -> it, (one, other) -> one));
        for (int i = 0; i < batch.size(); i++) {
            Item<E> item = batch.get(i);
            BatchResultErrorEntry error = byId.get(Integer.toString(i));
            if (error == null) {
                item.done.complete(true);
            } else if (isPermanent(error)) {
                log.debug("{} was refused: {} {}", what, error.code(), error.message());
                item.done.complete(false);
            } else {
                retry(item);
            }
        }
    }

    /** A fault of the sender does not pass, except throttling. */
    private static boolean isPermanent(BatchResultErrorEntry error) {
        return Boolean.TRUE.equals(error.senderFault())
                && !String.valueOf(error.code()).contains("Throttl");
    }

    private void retry(Item<E> item) {
        item.tries++;
        if (item.tries >= MAX_TRIES) {
            log.warn("{} failed {} times; SQS will deliver the message again", what, item.tries);
            item.done.complete(false);
            return;
        }
        long pause = BACKOFF.after(item.tries).toMillis();
        CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS).execute(() -> {
            synchronized (this) {
                waiting.add(item);
            }
            send();
        });
    }
}
