package dev.hapax.postgres.outbox;

import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A broker in memory that remembers what it accepted, in order, and answers as it is told. */
final class Receiver implements Publisher {
    private final List<Outgoing> accepted = new ArrayList<>();
    private volatile Function<Outgoing, CompletionStage<PublishResult>> behaviour =
            message -> CompletableFuture.completedStage(PublishResult.published());

    /** What a message gets; it counts as accepted when that says published. */
    Receiver answering(Function<Outgoing, PublishResult> answer) {
        return answeringLater(message -> CompletableFuture.completedStage(answer.apply(message)));
    }

    Receiver answeringLater(Function<Outgoing, CompletionStage<PublishResult>> answer) {
        behaviour = answer;
        return this;
    }

    @Override
    public List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        return messages.stream()
                .map(message -> behaviour.apply(message).thenApply(result -> {
                    if (result instanceof PublishResult.Published) {
                        accept(message);
                    }
                    return result;
                }))
                .toList();
    }

    private synchronized void accept(Outgoing message) {
        accepted.add(message);
    }

    synchronized List<Outgoing> accepted() {
        return List.copyOf(accepted);
    }

    List<String> texts() {
        return accepted().stream().map(it -> text(it.message())).toList();
    }

    /** What a receiver that drops duplicates sees, by aggregate. */
    Map<String, List<String>> firstTimesByAggregate() {
        Map<UUID, OutboxMessage> first = new LinkedHashMap<>();
        accepted().forEach(it -> first.putIfAbsent(it.message().id(), it.message()));
        Map<String, List<String>> lists = new LinkedHashMap<>();
        first.values()
                .forEach(it -> lists.computeIfAbsent(String.valueOf(it.aggregate()), key -> new ArrayList<>())
                        .add(text(it)));
        return lists;
    }

    static String text(OutboxMessage message) {
        return new String(message.body(), StandardCharsets.UTF_8);
    }

    static OutboxMessage message(String aggregate, String text) {
        return OutboxMessage.to("orders", text.getBytes(StandardCharsets.UTF_8)).aggregate(aggregate);
    }

    static OutboxMessage unordered(String text) {
        return OutboxMessage.to("orders", text.getBytes(StandardCharsets.UTF_8));
    }
}
