package dev.hapax.messaging.kafka;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.WakeupException;

/** What the errors of a Kafka consumer mean for the loop. */
final class KafkaErrors {
    private KafkaErrors() {}

    /**
     * Whether the loop goes on and tries again. A member that was removed from its group joins it again at the next
     * poll, although Kafka calls none of the errors about that retriable.
     */
    static boolean isTransient(KafkaException error) {
        return error instanceof RetriableException
                || error instanceof WakeupException
                || error instanceof CommitFailedException
                || error instanceof RebalanceInProgressException
                || error instanceof UnknownMemberIdException
                || error instanceof StaleMemberEpochException;
    }
}
