package dev.hapax.bench.gateway;

import dev.hapax.bench.peers.Payload;

/** What is sent both ways. */
final class Samples {
    private static final String BEGINNING =
            "{\"customer\": \"cus_42\", \"currency\": \"EUR\", \"amount\": 12345, \"capture\": true, \"description\": \"";

    private Samples() {}

    /** A JSON object of exactly so many bytes. */
    static String json(int length) {
        return BEGINNING + Payload.text(length - BEGINNING.length() - 2) + "\"}";
    }
}
