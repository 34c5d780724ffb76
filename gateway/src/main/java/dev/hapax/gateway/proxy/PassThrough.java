package dev.hapax.gateway.proxy;

import dev.hapax.http.Headers;
import dev.hapax.http.Problem;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * Passes a request that is not protected on to the upstream as it comes in, and its response back: any size, nothing
 * kept. Belongs to the exchange's event loop.
 */
final class PassThrough {
    private static final Buffer NOTHING = Buffer.buffer();

    private final Exchange exchange;
    private final HttpServerRequest request;
    private final UpstreamClient upstream;
    private final Vertx vertx;
    private final Traffic traffic;
    private final Patience withClient;
    private final Patience withUpstream;
    private @Nullable HttpClientRequest sent;
    private @Nullable Pump upload;
    private @Nullable Relay relay;
    private boolean uploaded;
    private boolean over;

    PassThrough(Exchange exchange, UpstreamClient upstream, Vertx vertx, Traffic traffic) {
        this.exchange = exchange;
        this.request = exchange.request();
        this.upstream = upstream;
        this.vertx = vertx;
        this.traffic = traffic;
        this.withClient = Patience.of(
                vertx, traffic.limits().bodyTimeout(), () -> end(Problem.REQUEST_TIMEOUT, "its body took too long"));
        this.withUpstream = Patience.of(
                vertx,
                upstream.upstream().responseTimeout(),
                () -> fail(UpstreamFailure.TIMEOUT, Problem.UPSTREAM_TIMEOUT, "the upstream took too long"));
    }

    void start(String host, Headers headers) {
        exchange.whenGone(this::leave);
        exchange.whenGivenUp(() -> end(Problem.SHUTTING_DOWN, "it could not be finished before"));
        if (request.version() == HttpVersion.HTTP_2 && exchange.head().length() == RequestHead.UNKNOWN) {
            openWhenBodyIsKnown(host, headers);
        } else {
            open(host, headers, exchange.head().length() == 0 ? null : NOTHING);
        }
    }

    /** Only what comes next tells whether an HTTP/2 request without a length has a body. */
    private void openWhenBodyIsKnown(String host, Headers headers) {
        withClient.start();
        request.handler(first -> {
            request.handler(null);
            request.endHandler(null);
            open(host, headers, first);
        });
        request.endHandler(end -> open(host, headers, null));
        request.fetch(1);
    }

    /** @param first what has been read of the body; empty when there is none */
    private void open(String host, Headers headers, @Nullable Buffer first) {
        withClient.stop();
        upstream.open(exchange.head(), host, headers).onComplete(opened -> {
            if (opened.failed()) {
                fail(
                        UpstreamFailure.unsent(opened.cause()),
                        Problem.UPSTREAM_UNREACHABLE,
                        "it could not be sent to the upstream");
            } else if (over || exchange.isGivenUp()) {
                opened.result().reset();
            } else {
                send(opened.result(), first);
            }
        });
    }

    private void send(HttpClientRequest toSend, @Nullable Buffer first) {
        sent = toSend;
        toSend.exceptionHandler(failure -> {}); // the response fails too
        toSend.continueHandler(now -> exchange.reply().sendContinue());
        toSend.earlyHintsHandler(hints -> exchange.reply().sendEarlyHints(Relay.headersOf(hints)));
        toSend.response().onComplete(came -> {
            if (came.succeeded()) {
                received(came.result());
            } else {
                fail(UpstreamFailure.HUNG_UP, Problem.UPSTREAM_FAILED, "the upstream hung up");
            }
        });
        if (first == null) {
            sendWithoutBody(toSend);
        } else {
            sendWithBody(toSend, first);
        }
    }

    private void sendWithoutBody(HttpClientRequest toSend) {
        if (exchange.head().headers().contains("Content-Length")) {
            toSend.putHeader(HttpHeaders.CONTENT_LENGTH, "0");
        }
        toSend.end();
        uploaded();
    }

    private void sendWithBody(HttpClientRequest toSend, Buffer first) {
        long length = exchange.head().length();
        if (length == RequestHead.UNKNOWN) {
            toSend.setChunked(true);
        } else {
            toSend.putHeader(HttpHeaders.CONTENT_LENGTH, Long.toString(length));
        }
        toSend.sendHead();
        Pump pump = new Pump(request, Flow.of(request), toSend, withClient, withUpstream);
        upload = pump;
        if (first.length() > 0) {
            pump.first(first);
        }
        pump.start(() -> {
            toSend.end();
            uploaded();
        });
    }

    private void uploaded() {
        uploaded = true;
        if (relay == null && !over) {
            withUpstream.start();
        }
    }

    private void received(HttpClientResponse response) {
        if (over) {
            return;
        }
        if (response.statusCode() < 200) {
            fail(UpstreamFailure.BROKE_OFF, Problem.UPSTREAM_FAILED, "the upstream switched protocols unasked");
            return;
        }
        if (uploaded) {
            withUpstream.stop();
        }
        relay = new Relay(exchange, response, vertx, traffic, this::stopUpload);
        relay.start();
    }

    private void leave() {
        stop();
        exchange.finish();
    }

    private void fail(UpstreamFailure failure, Problem problem, String detail) {
        if (!over) {
            exchange.upstreamFailed(failure);
            end(problem, detail);
        }
    }

    private void end(Problem problem, String detail) {
        if (relay != null) {
            relay.breakOff();
        } else if (!over) {
            stop();
            exchange.fail(problem, detail);
        }
    }

    private void stop() {
        stopUpload();
        if (sent != null) {
            UpstreamChannel.abort(sent);
        }
    }

    /** An upstream that has answered wants no more of a request. */
    private void stopUpload() {
        over = true;
        withClient.stop();
        withUpstream.stop();
        if (upload != null) {
            upload.stop();
        }
        if (sent != null && !uploaded) {
            UpstreamChannel.abort(sent);
        }
    }
}
