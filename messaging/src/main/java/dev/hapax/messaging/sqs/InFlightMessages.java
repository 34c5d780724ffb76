package dev.hapax.messaging.sqs;

import dev.hapax.messaging.sqs.ReceivedMessage.State;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The messages that a loop has received and not settled, with the order of their FIFO groups: only the first message of
 * a group is ever due. Confined to the loop's thread.
 */
final class InFlightMessages {
    private final Set<ReceivedMessage> messages = new LinkedHashSet<>();
    private final Map<String, Deque<ReceivedMessage>> groups = new HashMap<>();

    void add(ReceivedMessage message) {
        messages.add(message);
        if (message.group != null) {
            groups.computeIfAbsent(message.group, name -> new ArrayDeque<>()).add(message);
        }
    }

    void remove(ReceivedMessage message) {
        message.state = State.SETTLED;
        messages.remove(message);
        leaveGroup(message);
    }

    /** Lets the next message of its group become due. */
    void leaveGroup(ReceivedMessage message) {
        Deque<ReceivedMessage> group = message.group == null ? null : groups.get(message.group);
        if (group != null && group.remove(message) && group.isEmpty()) {
            groups.remove(message.group);
        }
    }

    int size() {
        return messages.size();
    }

    List<ReceivedMessage> all() {
        return List.copyOf(messages);
    }

    /** The messages of its group, in order; the message alone if it has none. */
    List<ReceivedMessage> groupOf(ReceivedMessage message) {
        Deque<ReceivedMessage> group = message.group == null ? null : groups.get(message.group);
        return group == null ? List.of(message) : List.copyOf(group);
    }

    List<ReceivedMessage> due(long now) {
        List<ReceivedMessage> due = new ArrayList<>();
        for (ReceivedMessage message : messages) {
            if (canBecomeDue(message) && message.notBefore - now <= 0) {
                due.add(message);
            }
        }
        return due;
    }

    /** When the next message is due; {@code latest} if that is sooner. */
    long nextDue(long latest) {
        long next = latest;
        for (ReceivedMessage message : messages) {
            if (canBecomeDue(message)) {
                next = Math.min(next, message.notBefore);
            }
        }
        return next;
    }

    private boolean canBecomeDue(ReceivedMessage message) {
        if (message.state != State.WAITING) {
            return false;
        }
        Deque<ReceivedMessage> group = message.group == null ? null : groups.get(message.group);
        return group == null || group.peek() == message;
    }
}
