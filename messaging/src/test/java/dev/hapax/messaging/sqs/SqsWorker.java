package dev.hapax.messaging.sqs;

import dev.hapax.messaging.queues.Ledger;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.LedgerWorker;
import java.time.Duration;

/** One of many processes that consume a queue and write a ledger, until it is killed. */
final class SqsWorker {
    private SqsWorker() {}

    /** @param args JDBC URL, owner, mode, the server's port, queue, dead letters */
    public static void main(String[] args) throws Exception {
        LedgerWorker.run(
                args[0],
                args[1],
                (hapax, pool, observed) -> SqsConsumerLoop.of(
                                ElasticMq.client(Integer.parseInt(args[3])),
                                Ledger.consumer(
                                        SqsMessages.consumer(Ledger.NAME, hapax)
                                                .key(observed.counting(
                                                        it -> it.receiveCount() > 1, SqsMessages.attribute("key"))),
                                        message -> String.valueOf(message.attribute("key")),
                                        Mode.valueOf(args[2]),
                                        pool))
                        .queueUrl(args[4])
                        .waitTime(Duration.ofSeconds(1))
                        .visibility(Duration.ofSeconds(3))
                        .deadLetters(DeadLetters.toQueue(args[5]))
                        .start());
    }
}
