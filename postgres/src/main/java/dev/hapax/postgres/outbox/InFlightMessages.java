package dev.hapax.postgres.outbox;

import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages that the publisher has and has not answered yet. Answers arrive on the publisher's threads and queue up;
 * everything else is used by the relay's thread only.
 *
 * <p>Every message gets exactly one answer: the publisher's, or a failure once the timeout has passed. A publisher that
 * throws, returns no stages or completes them with null has failed to publish.
 */
final class InFlightMessages {
    private static final Logger log = LoggerFactory.getLogger(InFlightMessages.class);

    private final Publisher publisher;
    private final Duration timeout;
    private final Runnable onAnswer;
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final Queue<InFlight> inFlight = new ArrayDeque<>(); // the oldest first

    record Answer(LeasedMessages messages, LeasedMessages.Entry entry, PublishResult result) {
        boolean isAwaited() {
            return messages.awaits(entry);
        }
    }

    private record InFlight(LeasedMessages messages, LeasedMessages.Entry entry, long since) {
        Answer answer(PublishResult result) {
            return new Answer(messages, entry, result);
        }
    }

    /** @param onAnswer called on the publisher's threads */
    InFlightMessages(Publisher publisher, Duration timeout, Runnable onAnswer) {
        this.publisher = publisher;
        this.timeout = timeout;
        this.onAnswer = onAnswer;
    }

    /** Hands the current message of each to the publisher. */
    void publish(List<LeasedMessages> next) {
        long now = System.nanoTime();
        List<InFlight> begun = next.stream()
                .map(messages -> new InFlight(messages, messages.current(), now))
                .toList();
        inFlight.addAll(begun);
        List<CompletionStage<PublishResult>> stages = callPublisher(begun);
        for (int i = 0; i < begun.size(); i++) {
            await(begun.get(i), stages.get(i));
        }
    }

    private List<CompletionStage<PublishResult>> callPublisher(List<InFlight> begun) {
        List<Outgoing> messages =
                begun.stream().map(it -> it.entry().outgoing()).toList();
        try {
            List<CompletionStage<PublishResult>> stages = publisher.publish(messages);
            if (stages != null && stages.size() == messages.size()) {
                return stages;
            }
            throw new IllegalStateException("the publisher returned %s for %d messages"
                    .formatted(stages == null ? "null" : stages.size() + " stages", messages.size()));
        } catch (RuntimeException | Error e) {
            log.warn("The publisher failed for {} messages: {}", messages.size(), e.toString());
            return Collections.nCopies(messages.size(), CompletableFuture.completedStage(PublishResult.failed(e)));
        }
    }

    private void await(InFlight message, @Nullable CompletionStage<PublishResult> stage) {
        if (stage == null) {
            add(message.answer(PublishResult.failed("the publisher returned null instead of a stage")));
            return;
        }
        try {
            stage.whenComplete((result, error) -> add(message.answer(resultOf(result, error))));
        } catch (RuntimeException | Error e) {
            add(message.answer(PublishResult.failed(e)));
        }
    }

    private static PublishResult resultOf(@Nullable PublishResult result, @Nullable Throwable error) {
        if (error != null) {
            Throwable cause = error.getCause();
            return PublishResult.failed(error instanceof CompletionException && cause != null ? cause : error);
        }
        return result == null ? PublishResult.failed("the publisher completed a stage with null") : result;
    }

    private void add(Answer answer) {
        answers.add(answer);
        onAnswer.run();
    }

    boolean hasAnswers() {
        return !answers.isEmpty();
    }

    /** The next answer to a message that is still in flight, or {@code null}. Late and repeated answers are dropped. */
    @Nullable
    Answer poll() {
        Answer answer;
        while ((answer = answers.poll()) != null) {
            if (answer.isAwaited()) {
                return answer;
            }
        }
        return pollTimedOut();
    }

    /** All have the same timeout, so the oldest one is the first to reach it. */
    private @Nullable Answer pollTimedOut() {
        InFlight oldest;
        while ((oldest = inFlight.peek()) != null) {
            Answer answer = oldest.answer(PublishResult.failed("no answer within " + timeout));
            if (answer.isAwaited() && System.nanoTime() - oldest.since() < timeout.toNanos()) {
                return null;
            }
            inFlight.remove();
            if (answer.isAwaited()) {
                return answer;
            }
        }
        return null;
    }

    /** How long until the oldest message reaches its timeout; {@link Long#MAX_VALUE} if there is none. */
    long nanosToTimeout(long now) {
        InFlight oldest = inFlight.peek();
        return oldest == null ? Long.MAX_VALUE : oldest.since() + timeout.toNanos() - now;
    }
}
