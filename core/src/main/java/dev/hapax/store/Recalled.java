package dev.hapax.store;

/** How an operation ended, as it is in memory. */
public record Recalled(OperationId id, Claim.Replay replay) {}
