package dev.hapax.http;

import java.util.Set;

/** The headers of this layer. */
final class Names {
    static final String OPERATION_ID = "Hapax-Operation-Id";
    static final String ATTEMPT = "Hapax-Attempt";
    static final String GENERATION = "Hapax-Generation";
    static final String RECORDED = "Hapax-Recorded";
    static final String REPLAYED = "Idempotent-Replayed";

    /** What this layer says of a response; an upstream that says it speaks of something else. */
    static final Set<String> ON_RESPONSES = Set.of("hapax-operation-id", "hapax-recorded", "idempotent-replayed");

    private Names() {}
}
