package dev.hapax.store;

import java.time.Duration;
import java.util.UUID;

/** The owner's last word: the operation ended like this, keep it for {@code retention} from now. */
public record Finish(OperationId id, UUID token, Result result, Duration retention) {}
