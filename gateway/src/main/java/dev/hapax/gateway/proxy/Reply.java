package dev.hapax.gateway.proxy;

import dev.hapax.http.Headers;
import dev.hapax.http.HttpResponse;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * What a client gets: the framing of a response, and what becomes of the connection after it. Belongs to the request's
 * event loop.
 */
final class Reply {
    private static final int PIECE = 64 << 10;
    private static final int WORTH_READING = 64 << 10;
    private static final long HTTP2_NO_ERROR = 0;
    private static final long HTTP2_INTERNAL_ERROR = 2;

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final @Nullable RequestHead head;
    private final ClientChannel channel;
    private final Vertx vertx;
    private final Traffic traffic;
    private boolean begun;
    private boolean closes;

    Reply(HttpServerRequest request, @Nullable RequestHead head, ClientChannel channel, Vertx vertx, Traffic traffic) {
        this.request = request;
        this.response = request.response();
        this.head = head;
        this.channel = channel;
        this.vertx = vertx;
        this.traffic = traffic;
    }

    boolean isBegun() {
        return begun;
    }

    int status() {
        return begun ? response.getStatusCode() : 0;
    }

    /** Tells the client that its body is welcome. */
    void sendContinue() {
        if (request.version() != HttpVersion.HTTP_1_0 && !begun) {
            response.writeContinue();
        }
    }

    void sendEarlyHints(Headers hints) {
        if (request.version() != HttpVersion.HTTP_1_0 && !begun) {
            MultiMap headers = HttpHeaders.headers();
            HopByHop.removed(hints).fields().forEach(field -> headers.add(field.name(), field.value()));
            response.writeEarlyHints(headers);
        }
    }

    /** Sends a whole response. The future completes when it is sent, or never will be. */
    Future<Void> send(HttpResponse whole) {
        byte[] body = whole.body();
        begin(whole.status(), whole.headers(), body.length);
        if (!hasBody() || body.length <= PIECE) {
            return ended(hasBody() ? response.end(Buffer.buffer(body)) : response.end());
        }
        Promise<Void> sent = Promise.promise();
        Patience withClient = patience(this::cut);
        response.exceptionHandler(failure -> sent.tryComplete());
        response.closeHandler(closed -> sent.tryComplete());
        sendFrom(0, Buffer.buffer(body), withClient, sent);
        return sent.future().onComplete(done -> withClient.stop());
    }

    private void sendFrom(int start, Buffer body, Patience withClient, Promise<Void> sent) {
        int from = start;
        while (from + PIECE < body.length()) {
            response.write(body.slice(from, from + PIECE));
            from += PIECE;
            if (response.writeQueueFull()) {
                int next = from;
                withClient.start();
                response.drainHandler(drained -> sendFrom(next, body, withClient, sent));
                return;
            }
        }
        ended(response.end(body.slice(from, body.length()))).onComplete(done -> sent.tryComplete());
    }

    /**
     * Begins a response whose body is written to {@link #body} and ended by {@link #end}.
     *
     * @param length {@link RequestHead#UNKNOWN} where only its end will tell
     */
    void begin(int status, Headers headers, long length) {
        begun = true;
        closes = isHttp1() && (traffic.isStopping() || hasMuchUnread());
        response.setStatusCode(status);
        headers.fields().forEach(field -> response.headers().add(field.name(), field.value()));
        if (!response.headers().contains(HttpHeaders.DATE)) {
            response.putHeader(HttpHeaders.DATE, traffic.date().now());
        }
        boolean untold = status == 204 || (status == 304 && length == 0);
        if (length != RequestHead.UNKNOWN && !untold) {
            response.putHeader(HttpHeaders.CONTENT_LENGTH, Long.toString(length));
        } else if (hasBody()) {
            response.setChunked(true);
            closes |= request.version() == HttpVersion.HTTP_1_0;
        }
        if (closes) {
            channel.takeNoMore();
            response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
        }
    }

    /** Whether a response that has begun may have a body. */
    boolean hasBody() {
        int status = response.getStatusCode();
        return !request.method().equals(HttpMethod.HEAD) && status >= 200 && status != 204 && status != 304;
    }

    HttpServerResponse body() {
        return response;
    }

    /** Ends what was begun. The future completes when all is sent, or never will be. */
    Future<Void> end(MultiMap trailers) {
        trailers.forEach(trailer -> response.trailers().add(trailer.getKey(), trailer.getValue()));
        return ended(response.end());
    }

    private Future<Void> ended(Future<Void> end) {
        Promise<Void> done = Promise.promise();
        Patience withClient = patience(() -> {
            channel.cut();
            done.tryComplete();
        });
        withClient.start();
        end.onComplete(sent -> {
            withClient.stop();
            if (sent.succeeded()) {
                leaveTidy();
            }
            done.tryComplete();
        });
        return done.future();
    }

    /** Breaks off: what the client has is not the whole. */
    void cut() {
        if (isHttp1() || response.ended()) {
            channel.cut();
        } else {
            response.reset(HTTP2_INTERNAL_ERROR);
        }
    }

    /** What is left of the request does not get in the way of the next one. */
    private void leaveTidy() {
        if (isHttp1()) {
            if (closes || !isRead()) {
                new LastBytes(request, vertx).discard(closes);
            }
        } else if (!request.isEnded()) {
            response.reset(HTTP2_NO_ERROR);
        }
    }

    private boolean isHttp1() {
        return request.version() != HttpVersion.HTTP_2;
    }

    private boolean isRead() {
        return request.isEnded() || (head != null && head.length() == 0);
    }

    private boolean hasMuchUnread() {
        return !isRead() && (head == null || head.length() == RequestHead.UNKNOWN || head.length() > WORTH_READING);
    }

    private Patience patience(Runnable atItsEnd) {
        return Patience.of(vertx, traffic.limits().bodyTimeout(), atItsEnd);
    }
}
