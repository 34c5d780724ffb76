package dev.hapax.store;

import java.time.Duration;
import java.util.UUID;

/** The owner is still at work: its lease is to last for {@code lease} from now. */
public record Renewal(OperationId id, UUID token, Duration lease) {}
