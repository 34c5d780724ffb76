package dev.hapax.messaging.rabbit;

/** A delivery that is not acknowledged yet. Confined to the loop's thread, except what is final. */
final class UnackedDelivery {
    final Subscription subscription;
    final long tag;
    final RabbitMessage message;
    final long receivedAt = System.nanoTime();

    /** When the loop has to do something with it again. */
    long wakeAt = receivedAt;

    /** When the engine may be asked again; later than {@link #wakeAt} if the broker is to hold it until then. */
    long notBefore = receivedAt;

    /** Whether it goes back to the queue instead of to the engine. */
    boolean requeued;

    UnackedDelivery(Subscription subscription, long tag, RabbitMessage message) {
        this.subscription = subscription;
        this.tag = tag;
        this.message = message;
    }

    /** Whether its channel is gone, so that the broker delivers the message again. */
    boolean isStale() {
        return subscription.ended() != null;
    }
}
