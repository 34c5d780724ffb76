package dev.hapax.testkit.http;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A request as it arrived at the application.
 *
 * @param target the path and the query as they stood on the request line, nothing decoded
 * @param headers by name, without case
 * @param guarded whether the layer under test says that it guards this execution
 */
@SuppressWarnings("ArrayRecordComponent")
public record ContractRequest(
        String method, String target, Map<String, List<String>> headers, byte[] body, boolean guarded) {
    public ContractRequest {
        Map<String, List<String>> byName = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        byName.putAll(headers);
        headers = byName;
    }

    List<String> all(String name) {
        return headers.getOrDefault(name, List.of());
    }

    Optional<String> first(String name) {
        return all(name).stream().findFirst();
    }
}
