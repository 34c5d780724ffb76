package dev.hapax.gateway.proxy;

import dev.hapax.http.HttpResponse;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;

/**
 * What has not been read of a response that is too large to keep. The upstream waits with it until it is recorded that
 * the response was there. Belongs to the exchange's event loop.
 */
final class RestOfResponse {
    private final HttpClientResponse upstreamResponse;
    private boolean failed;

    /** Of a response that is held back. */
    RestOfResponse(HttpClientResponse upstreamResponse) {
        this.upstreamResponse = upstreamResponse;
        upstreamResponse.exceptionHandler(failure -> failed = true);
    }

    /** Sends what was read, and then the rest as it comes in. */
    void stream(Exchange exchange, HttpResponse begun, Vertx vertx, Traffic traffic) {
        Relay relay = new Relay(exchange, upstreamResponse, vertx, traffic, () -> {});
        relay.start(begun.status(), begun.headers(), Buffer.buffer(begun.body()));
        if (failed) {
            relay.breakOff();
        }
    }

    /** Nobody wants it. */
    void abandon() {
        UpstreamChannel.abort(upstreamResponse.request());
    }
}
