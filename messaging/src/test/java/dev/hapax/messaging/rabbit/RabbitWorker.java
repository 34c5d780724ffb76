package dev.hapax.messaging.rabbit;

import dev.hapax.messaging.queues.Ledger;
import dev.hapax.messaging.queues.Ledger.Mode;
import dev.hapax.messaging.queues.LedgerWorker;

/** One of many processes that consume a queue and write a ledger, until it is killed. */
final class RabbitWorker {
    private RabbitWorker() {}

    /** @param args JDBC URL, owner, mode, the broker's port, queue */
    public static void main(String[] args) throws Exception {
        LedgerWorker.run(
                args[0],
                args[1],
                (hapax, pool, observed) -> RabbitConsumerLoop.of(
                                Broker.factory(Integer.parseInt(args[3])),
                                Ledger.consumer(
                                        RabbitMessages.consumer(Ledger.NAME, hapax)
                                                .key(observed.counting(
                                                        RabbitMessage::redelivered, RabbitMessage::messageId)),
                                        RabbitMessage::messageId,
                                        Mode.valueOf(args[2]),
                                        pool))
                        .queue(args[4])
                        .deadLetters(DeadLetters.toQueue(args[4] + ".dead"))
                        .start());
    }
}
