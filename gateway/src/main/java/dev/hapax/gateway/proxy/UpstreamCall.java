package dev.hapax.gateway.proxy;

import dev.hapax.Lease;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.http.Headers;
import dev.hapax.http.Headers.Field;
import dev.hapax.http.HttpResponse;
import dev.hapax.http.Operation;
import dev.hapax.http.Problem;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.StreamResetException;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The call to the upstream that a protected request asks for. It is made once; whatever goes wrong is told apart by one
 * question, whether any of the request may have reached the upstream:
 *
 * <ul>
 *   <li>No connection could be had, or only once the lease was over: nothing was sent, so the response is a 503, and a
 *       retry runs.
 *   <li>Anything later, until the whole response is there: nobody knows what the upstream did. A connection that breaks
 *       right after the request was given to it counts as this, too; the pool closes idle connections early so that it
 *       is rare. Only an HTTP/2 upstream can say that it has not looked at a request: {@code REFUSED_STREAM}.
 * </ul>
 *
 * <p>Belongs to the exchange's event loop.
 */
final class UpstreamCall {
    private static final long REFUSED_STREAM = 7;

    private final UpstreamClient upstream;
    private final Exchange exchange;
    private final Target target;
    private final int maxBody;
    private final CompletableFuture<HttpResponse> result = new CompletableFuture<>();
    private final Patience withUpstream;
    private boolean begun;
    private boolean givenUp;
    private @Nullable HttpClientRequest sent;
    private @Nullable RestOfResponse rest;

    /**
     * Where the request goes.
     *
     * @param host empty for the upstream's own
     * @param headers what is forwarded, without what tells of the operation
     */
    record Target(String host, Headers headers) {}

    /** @param maxBody the largest response body that is kept */
    UpstreamCall(UpstreamClient upstream, Exchange exchange, Target target, int maxBody, Vertx vertx) {
        this.upstream = upstream;
        this.exchange = exchange;
        this.target = target;
        this.maxBody = maxBody;
        this.withUpstream = Patience.of(vertx, upstream.upstream().responseTimeout(), () -> {
            exchange.upstreamFailed(UpstreamFailure.TIMEOUT);
            leaveUnknown("the upstream did not answer in time", null);
        });
    }

    boolean isBegun() {
        return begun;
    }

    /** What of the response was too much to keep, once that is known. */
    @Nullable
    RestOfResponse rest() {
        return rest;
    }

    CompletionStage<HttpResponse> begin(Operation operation, byte[] body) {
        begun = true;
        Lease lease = operation.lease();
        if (lease != null) {
            lease.lost().thenRunAsync(this::claimLost, exchange.executor());
        }
        if (givenUp || exchange.isGivenUp()) {
            result.complete(Problem.SHUTTING_DOWN.response("it could not be begun before"));
            return result;
        }
        upstream.open(exchange.head(), target.host(), headers(operation)).onComplete(opened -> {
            if (opened.failed()) {
                exchange.upstreamFailed(UpstreamFailure.unsent(opened.cause()));
                result.complete(Problem.UPSTREAM_UNREACHABLE.response("it could not be sent to the upstream"));
            } else if (result.isDone() || exchange.isGivenUp()) {
                opened.result().reset();
                result.complete(Problem.SHUTTING_DOWN.response("it could not be sent before"));
            } else if (lease != null && lease.isLost()) { // it may have waited for its connection
                opened.result().reset();
                result.complete(tooLate());
            } else {
                send(opened.result(), body);
            }
        });
        return result;
    }

    private void claimLost() {
        if (sent == null) {
            result.complete(tooLate());
        } else {
            leaveUnknown("the claim was lost", null);
        }
    }

    private static HttpResponse tooLate() {
        return Problem.OVERLOADED.response(
                "Nothing was sent to the upstream: there was no connection to it before the request's lease was over");
    }

    /** Waits no longer, wherever it is. */
    void giveUp(String why) {
        givenUp = true;
        if (sent != null) {
            leaveUnknown(why, null);
        } else if (begun) {
            result.complete(Problem.SHUTTING_DOWN.response("it could not be sent before"));
        }
    }

    /** What a client says in these headers is not for the upstream to believe. */
    private Headers headers(Operation operation) {
        Headers headers = target.headers().without("Expect"::equalsIgnoreCase);
        for (Field field : operation.headers().fields()) {
            headers = headers.with(field.name(), field.value());
        }
        return headers;
    }

    private void send(HttpClientRequest toSend, byte[] body) {
        sent = toSend;
        toSend.exceptionHandler(failure -> {}); // the response fails too
        toSend.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(body.length));
        withUpstream.start();
        toSend.response().onComplete(came -> {
            if (came.succeeded()) {
                received(came.result());
            } else {
                hungUp(came.cause());
            }
        });
        toSend.end(Buffer.buffer(body)).onFailure(this::hungUp);
    }

    private void hungUp(Throwable failure) {
        if (result.isDone()) {
            return;
        }
        if (failure instanceof StreamResetException reset && reset.getCode() == REFUSED_STREAM) {
            exchange.upstreamFailed(UpstreamFailure.REFUSED);
            withUpstream.stop();
            result.complete(Problem.UPSTREAM_UNREACHABLE.response("the upstream refused it unread"));
            return;
        }
        exchange.upstreamFailed(UpstreamFailure.HUNG_UP);
        leaveUnknown("the upstream hung up", failure);
    }

    private void received(HttpClientResponse response) {
        if (result.isDone()) {
            return;
        }
        if (response.statusCode() < 200) {
            exchange.upstreamFailed(UpstreamFailure.BROKE_OFF);
            leaveUnknown("the upstream switched protocols unasked", null);
        } else if (isStream(response) || Relay.lengthOf(response) > maxBody) {
            keepRest(response, Buffer.buffer());
        } else {
            collect(response);
        }
    }

    private static boolean isStream(HttpClientResponse response) {
        String type = response.getHeader(HttpHeaders.CONTENT_TYPE);
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
    }

    private void collect(HttpClientResponse response) {
        Buffer body = Buffer.buffer();
        withUpstream.start();
        response.exceptionHandler(failure -> {
            if (!result.isDone()) {
                exchange.upstreamFailed(UpstreamFailure.BROKE_OFF);
                leaveUnknown("the response broke off", failure);
            }
        });
        response.handler(bytes -> {
            withUpstream.start();
            body.appendBuffer(bytes);
            if (body.length() > maxBody && !result.isDone()) {
                keepRest(response, body);
            }
        });
        response.endHandler(end -> {
            withUpstream.stop();
            result.complete(new HttpResponse(response.statusCode(), Relay.headersOf(response), body.getBytes()));
        });
    }

    /** It will not be kept: the upstream waits with the rest of it until that is recorded. */
    private void keepRest(HttpClientResponse response, Buffer first) {
        withUpstream.stop();
        UpstreamChannel.flowOf(response).hold();
        rest = new RestOfResponse(response);
        result.complete(new HttpResponse(response.statusCode(), Relay.headersOf(response), first.getBytes(), rest));
    }

    private void leaveUnknown(String why, @Nullable Throwable failure) {
        withUpstream.stop();
        if (result.completeExceptionally(new OutcomeUnknownException(why, failure)) && sent != null) {
            UpstreamChannel.abort(sent);
        }
    }
}
