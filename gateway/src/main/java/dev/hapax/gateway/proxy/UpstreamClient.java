package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Pool;
import dev.hapax.gateway.proxy.GatewaySettings.Protocol;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import dev.hapax.http.Headers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.impl.ConnectionBase;
import java.net.ConnectException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/**
 * The connections of one event loop to an upstream. They are not shared between event loops, so that what is known of a
 * connection here is how it is, and not how it was a moment ago.
 *
 * <p>Nothing is ever sent twice: Vert.x retries nothing, and follows no redirects.
 */
final class UpstreamClient {
    private static final int CLEANER_MILLIS = 250;
    private static final int MAX_HEADERS = 64 << 10;
    private static final int MAX_TUNNELS = 100_000;
    private static final int STALE_CONNECTIONS = 3;
    private static final Duration MARGIN = Duration.ofSeconds(1);

    private final Vertx vertx;
    private final Upstream upstream;
    private final HttpClient exchanges;
    private final HttpClient tunnels;

    /** @param loops how many event loops share the upstream's pool */
    UpstreamClient(Vertx vertx, Upstream upstream, int loops) {
        this.vertx = vertx;
        this.upstream = upstream;
        Pool pool = upstream.pool();
        HttpClientOptions options = TlsOptions.towards(upstream, options(upstream));
        this.exchanges = vertx.httpClientBuilder()
                .with(options)
                .with(new PoolOptions()
                        .setHttp1MaxSize(Math.max(1, pool.size() / loops))
                        .setHttp2MaxSize(Math.max(1, pool.size() / loops))
                        .setMaxWaitQueueSize(pool.maxWaiting())
                        .setCleanerPeriod(CLEANER_MILLIS))
                .withConnectHandler(connection -> UpstreamChannel.watch(connection, pool.idleTimeout()))
                .build();
        this.tunnels = vertx.httpClientBuilder()
                .with(new HttpClientOptions(options)
                        .setProtocolVersion(HttpVersion.HTTP_1_1)
                        .setUseAlpn(false)
                        .setKeepAlive(true)) // otherwise Vert.x says Connection: close, where it must say Upgrade
                .with(new PoolOptions().setHttp1MaxSize(MAX_TUNNELS))
                .withConnectHandler(connection -> UpstreamChannel.watch(connection, pool.idleTimeout()))
                .build();
    }

    private static HttpClientOptions options(Upstream upstream) {
        int idleSeconds = (int)
                Math.min(3600, upstream.pool().idleTimeout().plusMillis(999).toSeconds());
        return new HttpClientOptions()
                .setProtocolVersion(upstream.protocol() == Protocol.HTTP_2 ? HttpVersion.HTTP_2 : HttpVersion.HTTP_1_1)
                .setHttp2ClearTextUpgrade(false)
                .setKeepAlive(idleSeconds > 0)
                .setKeepAliveTimeout(Math.max(1, idleSeconds))
                .setConnectTimeout(millis(upstream.connectTimeout()))
                .setMaxHeaderSize(MAX_HEADERS)
                .setMaxInitialLineLength(MAX_HEADERS)
                .setTcpKeepAlive(true);
    }

    Upstream upstream() {
        return upstream;
    }

    /**
     * A request with these headers on a connection of its own, of which nothing has been sent. A failure means that
     * nothing will be.
     *
     * @param host empty for the upstream's own
     */
    Future<HttpClientRequest> open(RequestHead head, String host, Headers headers) {
        return inTime(live(head, STALE_CONNECTIONS)).map(request -> with(request, host, headers));
    }

    /** The same, for a request whose connection will be used for something else than HTTP. */
    Future<HttpClientRequest> openTunnel(RequestHead head, String host, Headers headers) {
        return inTime(tunnels.request(options(head))).map(request -> with(request, host, headers));
    }

    /** The pool has a timeout of its own; but where that and a connection come at the same time, it tells nobody. */
    private Future<HttpClientRequest> inTime(Future<HttpClientRequest> opening) {
        Promise<HttpClientRequest> opened = Promise.promise();
        Patience patience = Patience.of(
                vertx, waitTimeout().plus(MARGIN), () -> opened.tryFail(new TimeoutException("no connection in time")));
        patience.start();
        opening.onComplete(result -> {
            patience.stop();
            if (result.failed()) {
                opened.tryFail(result.cause());
            } else if (!opened.tryComplete(result.result())) {
                result.result().reset();
            }
        });
        return opened.future();
    }

    /** A pooled connection may have been closed without the pool knowing. */
    private Future<HttpClientRequest> live(RequestHead head, int attempts) {
        return exchanges.request(options(head)).compose(request -> {
            if (((ConnectionBase) request.connection()).channel().isActive()) {
                return Future.succeededFuture(request);
            }
            request.reset();
            return attempts == 0
                    ? Future.failedFuture(new ConnectException("every connection was closed"))
                    : live(head, attempts - 1);
        });
    }

    private RequestOptions options(RequestHead head) {
        return new RequestOptions()
                .setMethod(head.method())
                .setHost(upstream.uri().getHost())
                .setPort(upstream.port())
                .setSsl(upstream.isTls())
                .setURI(head.target())
                .setFollowRedirects(false)
                .setConnectTimeout(millis(waitTimeout()));
    }

    private Duration waitTimeout() {
        return upstream.connectTimeout().plus(upstream.pool().waitTimeout());
    }

    private static HttpClientRequest with(HttpClientRequest request, String host, Headers headers) {
        try {
            headers.fields().forEach(field -> request.headers().add(field.name(), field.value()));
        } catch (RuntimeException refused) {
            request.reset();
            throw refused;
        }
        if (host.isEmpty()) {
            return request;
        }
        if (request.version() == HttpVersion.HTTP_2) {
            request.authority(HostAndPort.parseAuthority(host, -1));
        } else {
            request.putHeader(HttpHeaders.HOST, host);
        }
        return request;
    }

    Future<Void> close() {
        return Future.join(exchanges.close(), tunnels.close()).mapEmpty();
    }

    private static int millis(Duration duration) {
        return (int) Math.min(Integer.MAX_VALUE, duration.toMillis());
    }
}
