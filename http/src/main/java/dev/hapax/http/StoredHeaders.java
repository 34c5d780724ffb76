package dev.hapax.http;

/** Which headers of a response are kept with it and replayed. */
final class StoredHeaders {
    private StoredHeaders() {}
}
