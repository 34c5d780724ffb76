package dev.hapax.bench.micro;

import dev.hapax.bench.peers.Payload;
import java.nio.charset.StandardCharsets;

/** Requests and results of the sizes that are usual. */
final class Samples {
    private static final String MEMBER =
            "\"line_%d\": {\"sku\": \"article-%d\", \"count\": %d, \"price\": %d.50, \"gift\": false}";

    private Samples() {}

    /** A JSON object of exactly so many bytes, nested, with texts, numbers and literals in it. */
    static String json(int length) {
        StringBuilder json = new StringBuilder("{\"customer\": \"cus_42\", \"currency\": \"EUR\"");
        for (int i = 9; ; i--) {
            String member = MEMBER.formatted(i, i, i, i * 10);
            if (json.length() + member.length() + ", \"note\": \"\"}".length() + 2 > length) {
                break;
            }
            json.append(", ").append(member);
        }
        json.append(", \"note\": \"");
        json.append(Payload.text(length - json.length() - 2));
        return json.append("\"}").toString();
    }

    static byte[] bytes(int length) {
        return json(length).getBytes(StandardCharsets.UTF_8);
    }
}
