package dev.hapax.gateway.proxy;

import dev.hapax.http.Headers;
import dev.hapax.http.Problem;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.net.NetSocket;
import org.jspecify.annotations.Nullable;

/**
 * Passes a WebSocket through: once the upstream has agreed to speak it, all bytes as they are, both ways. Belongs to
 * the exchange's event loop.
 */
final class Tunnel {
    private static final int SWITCHING_PROTOCOLS = 101;
    private static final String WEBSOCKET = "websocket";
    private static final long LAST_WORDS_MILLIS = 5_000;

    private final Exchange exchange;
    private final UpstreamClient upstream;
    private final Vertx vertx;
    private final Traffic traffic;
    private final Patience withUpstream;
    private @Nullable HttpClientRequest sent;
    private boolean over;

    Tunnel(Exchange exchange, UpstreamClient upstream, Vertx vertx, Traffic traffic) {
        this.exchange = exchange;
        this.upstream = upstream;
        this.vertx = vertx;
        this.traffic = traffic;
        this.withUpstream = Patience.of(
                vertx,
                upstream.upstream().responseTimeout(),
                () -> fail(UpstreamFailure.TIMEOUT, Problem.UPSTREAM_TIMEOUT, "the upstream took too long"));
    }

    void open(String host, Headers headers) {
        exchange.whenGone(this::leave);
        exchange.whenGivenUp(() -> end(Problem.SHUTTING_DOWN, "it could not be finished before"));
        upstream.openTunnel(exchange.head(), host, headers).onComplete(opened -> {
            if (opened.failed()) {
                fail(
                        UpstreamFailure.unsent(opened.cause()),
                        Problem.UPSTREAM_UNREACHABLE,
                        "it could not be sent to the upstream");
            } else if (over) {
                opened.result().reset();
            } else {
                ask(opened.result());
            }
        });
    }

    private void ask(HttpClientRequest toSend) {
        sent = toSend;
        withUpstream.start();
        toSend.exceptionHandler(failure -> {}); // the response fails too
        toSend.putHeader(HttpHeaders.CONNECTION, HttpHeaders.UPGRADE);
        toSend.putHeader(HttpHeaders.UPGRADE, WEBSOCKET);
        toSend.connect().onComplete(came -> {
            if (came.succeeded()) {
                received(came.result());
            } else {
                fail(UpstreamFailure.HUNG_UP, Problem.UPSTREAM_FAILED, "the upstream hung up");
            }
        });
    }

    private void received(HttpClientResponse response) {
        if (over) {
            return;
        }
        over = true;
        withUpstream.stop();
        if (response.statusCode() == SWITCHING_PROTOCOLS) {
            join(response);
        } else {
            new Relay(exchange, response, vertx, traffic, () -> UpstreamChannel.abort(response.request())).start();
        }
    }

    private void join(HttpClientResponse response) {
        NetSocket far = response.netSocket();
        far.pause();
        Relay.headersOf(response)
                .fields()
                .forEach(field -> exchange.request().response().headers().add(field.name(), field.value()));
        exchange.request()
                .response()
                .putHeader(HttpHeaders.CONNECTION, HttpHeaders.UPGRADE)
                .putHeader(HttpHeaders.UPGRADE, WEBSOCKET);
        exchange.request()
                .toNetSocket()
                .onSuccess(near -> join(near, far, response.request()))
                .onFailure(gone -> {
                    far.close();
                    exchange.finish();
                });
    }

    /** From here on it is no exchange that could end by itself, so a stop does not wait for it. */
    private void join(NetSocket near, NetSocket far, HttpClientRequest agreed) {
        ClientChannel client = exchange.becomeTunnel();
        near.exceptionHandler(failure -> near.close());
        far.exceptionHandler(failure -> far.close());
        near.closeHandler(closed -> {
            far.close();
            vertx.setTimer(LAST_WORDS_MILLIS, late -> UpstreamChannel.abort(agreed));
        });
        far.closeHandler(closed -> {
            near.close();
            vertx.setTimer(LAST_WORDS_MILLIS, late -> client.cut());
        });
        near.pipeTo(far);
        far.pipeTo(near);
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
        if (!over) {
            stop();
            exchange.fail(problem, detail);
        }
    }

    private void stop() {
        over = true;
        withUpstream.stop();
        if (sent != null) {
            UpstreamChannel.abort(sent);
        }
    }
}
