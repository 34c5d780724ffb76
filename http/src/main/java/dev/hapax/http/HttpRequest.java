package dev.hapax.http;

import org.jspecify.annotations.Nullable;

/**
 * A request that was read to its end.
 *
 * @param path as it stood on the request line, nothing decoded, without the query
 * @param query without the question mark; empty when there is none
 * @param body not copied: who makes a request gives it away
 * @param certificateSubject the distinguished name of a verified client certificate
 */
@SuppressWarnings("ArrayRecordComponent")
public record HttpRequest(
        String method,
        String path,
        String query,
        Headers headers,
        byte[] body,
        @Nullable String certificateSubject) {}
