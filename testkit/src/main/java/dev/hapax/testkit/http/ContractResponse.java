package dev.hapax.testkit.http;

import java.util.List;
import java.util.Map;

/**
 * What the application answers.
 *
 * @param chunked whether it is to be sent without saying how long it is, and in several pieces
 */
@SuppressWarnings("ArrayRecordComponent")
public record ContractResponse(int status, List<Map.Entry<String, String>> headers, byte[] body, boolean chunked) {
    public ContractResponse {
        headers = List.copyOf(headers);
    }
}
