package dev.hapax.gateway.proxy;

import dev.hapax.http.Headers;
import dev.hapax.http.Headers.Field;
import dev.hapax.http.Problem;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Passes the response of an upstream on to the client as it comes in, no faster than the client takes it. If one side
 * goes away, the other one learns of it. Belongs to the exchange's event loop.
 */
final class Relay {
    private final Exchange exchange;
    private final HttpClientRequest upstreamRequest;
    private final HttpClientResponse upstreamResponse;
    private final Pump pump;
    private final Runnable afterwards;

    /** @param afterwards what is to do when the response has ended, one way or the other */
    Relay(Exchange exchange, HttpClientResponse upstreamResponse, Vertx vertx, Traffic traffic, Runnable afterwards) {
        this.exchange = exchange;
        this.afterwards = afterwards;
        this.upstreamRequest = upstreamResponse.request();
        this.upstreamResponse = upstreamResponse;
        Patience withClient = Patience.of(vertx, traffic.limits().bodyTimeout(), this::breakOff);
        this.pump = new Pump(
                upstreamResponse,
                UpstreamChannel.flowOf(upstreamResponse),
                exchange.reply().body(),
                Patience.ENDLESS,
                withClient);
    }

    /** Without what means one connection only, and without its length. */
    static Headers headersOf(HttpClientResponse response) {
        return HopByHop.removed(headersOf(response.headers())).without("Content-Length"::equalsIgnoreCase);
    }

    static Headers headersOf(MultiMap headers) {
        List<Field> fields = new ArrayList<>();
        for (Map.Entry<String, String> header : headers) {
            fields.add(new Field(header.getKey(), header.getValue()));
        }
        return new Headers(fields);
    }

    static long lengthOf(HttpClientResponse response) {
        String length = response.getHeader(HttpHeaders.CONTENT_LENGTH);
        return length != null && RequestHead.isLength(length) ? Long.parseLong(length) : RequestHead.UNKNOWN;
    }

    /** Passes on a response of which nothing has been read. */
    void start() {
        start(upstreamResponse.statusCode(), headersOf(upstreamResponse), Buffer.buffer());
    }

    /** Passes on a response with these headers, of which these bytes have been read. */
    void start(int status, Headers headers, Buffer first) {
        exchange.whenGone(this::breakOff);
        exchange.whenGivenUp(this::breakOff);
        upstreamResponse.exceptionHandler(failure -> {
            exchange.upstreamFailed(UpstreamFailure.BROKE_OFF);
            breakOff();
        });
        Reply reply = exchange.reply();
        reply.begin(status, headers, lengthOf(upstreamResponse));
        if (reply.hasBody() && first.length() > 0) {
            pump.first(first);
        }
        if (!reply.hasBody()) {
            upstreamResponse.endHandler(end -> end());
            UpstreamChannel.flowOf(upstreamResponse).release();
        } else {
            pump.start(this::end);
        }
    }

    private void end() {
        exchange.whenGone(() -> {});
        exchange.whenGivenUp(() -> {});
        afterwards.run();
        exchange.reply().end(upstreamResponse.trailers()).onComplete(ended -> exchange.finish());
    }

    void breakOff() {
        pump.stop();
        UpstreamChannel.abort(upstreamRequest);
        afterwards.run();
        exchange.fail(Problem.UPSTREAM_FAILED, "the response broke off");
    }
}
