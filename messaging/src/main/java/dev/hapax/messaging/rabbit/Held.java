package dev.hapax.messaging.rabbit;

/**
 * A delivery that is not acknowledged yet. What is not final is written by who has it at the time: the loop's thread,
 * or the one that carries out what the engine said; queues hand it over.
 */
final class Held {
    final Subscription subscription;
    final long tag;
    final RabbitMessage message;
    final long since = System.nanoTime();
    long notBefore = since;
    boolean goesBack;

    Held(Subscription subscription, long tag, RabbitMessage message) {
        this.subscription = subscription;
        this.tag = tag;
        this.message = message;
    }
}
