package dev.hapax.store;

/**
 * A lease that ran out before its owner finished: the owner crashed, stalled, or lost its connection to the store.
 *
 * @param attempt the attempt that was abandoned
 * @param owner the owner that abandoned it
 */
public record ExpiredLease(OperationId id, OperationKey key, int attempt, String owner) {}
