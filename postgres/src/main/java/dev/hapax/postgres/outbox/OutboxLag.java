package dev.hapax.postgres.outbox;

import java.time.Duration;

/**
 * How far the relays are behind.
 *
 * @param depth how many messages are to be published, without those that are parked
 * @param oldest how long the oldest of them has been there, on the database's clock; zero where there is none
 * @param parked how many messages are parked
 */
public record OutboxLag(long depth, Duration oldest, long parked) {}
