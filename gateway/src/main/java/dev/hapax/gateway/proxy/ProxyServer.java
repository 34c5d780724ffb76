package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.Gateway.Backing;
import dev.hapax.gateway.proxy.GatewaySettings.Tls;
import dev.hapax.http.Headers;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpRequest;
import dev.hapax.http.Match;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public side of the gateway on one event loop: reads the head of each request and decides which way it goes. All
 * event loops listen on the same port.
 */
final class ProxyServer extends VerticleBase {
    private static final Logger log = LoggerFactory.getLogger(ProxyServer.class);
    private static final int BACKLOG = 4096;
    private static final int SHARED_FREE_PORT = -1;

    private final GatewaySettings settings;
    private final Backing backing;
    private final Traffic traffic;
    private final ForwardedHeaders forwarded;
    private final int loops;
    private @Nullable Upstreams upstreams;
    private @Nullable HttpServer server;

    ProxyServer(GatewaySettings settings, Backing backing, Traffic traffic, int loops) {
        this.settings = settings;
        this.backing = backing;
        this.traffic = traffic;
        this.forwarded = new ForwardedHeaders(settings.forwarding());
        this.loops = loops;
    }

    @Override
    public Future<?> start() {
        upstreams = new Upstreams(vertx, settings.upstreams(), loops);
        int port = settings.listen().port();
        server = vertx.createHttpServer(options())
                .requestHandler(this::handle)
                .invalidRequestHandler(this::refuse)
                .exceptionHandler(failure -> log.debug("A connection failed: {}", failure.toString()));
        return server.listen(
                port == 0 ? SHARED_FREE_PORT : port, settings.listen().host());
    }

    int port() {
        return server == null ? 0 : server.actualPort();
    }

    /** Accepts nothing more; connections are closed as they become idle, after this time in any case. */
    Future<Void> shutdown(Duration atMost) {
        return server == null
                ? Future.succeededFuture()
                : server.shutdown(Math.max(1, atMost.toMillis()), TimeUnit.MILLISECONDS);
    }

    private HttpServerOptions options() {
        GatewaySettings.Limits limits = settings.limits();
        HttpServerOptions options = new HttpServerOptions()
                .setMaxInitialLineLength(limits.maxInitialLine())
                .setMaxHeaderSize(limits.maxHeaders())
                .setInitialSettings(new Http2Settings()
                        .setMaxConcurrentStreams(HttpServerOptions.DEFAULT_INITIAL_SETTINGS_MAX_CONCURRENT_STREAMS)
                        .setMaxHeaderListSize(limits.maxHeaders()))
                .setHttp2ClearTextEnabled(settings.http2())
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setAcceptBacklog(BACKLOG)
                .setTcpKeepAlive(true);
        Tls tls = settings.tls();
        return tls == null ? options : TlsOptions.of(tls, settings.http2(), options);
    }

    private void handle(HttpServerRequest request) {
        request.pause();
        if (comesTooLate(request)) {
            return;
        }
        RequestHead head;
        try {
            head = RequestHead.of(request);
        } catch (ProblemException refused) {
            exchange(request, null).answer(refused.response());
            return;
        }
        Exchange exchange = exchange(request, head);
        try {
            route(exchange, head);
        } catch (ProblemException refused) {
            exchange.answer(refused.response());
        } catch (RuntimeException broken) {
            log.error("A request failed in a way that has no name", broken);
            exchange.answer(Problem.INTERNAL, "it failed in a way that has no name");
        }
    }

    private void route(Exchange exchange, RequestHead head) {
        if (isReserved(head.path())) {
            answerReserved(exchange, head);
            return;
        }
        Optional<Match> match = backing.idempotency().match(head.method().name(), head.path(), head.headers());
        UpstreamClient upstream = upstreams().of(head.path());
        String host = settings.forwarding().preserveHost() ? head.host() : "";
        Headers headers = forwarded.told(endToEnd(head.headers()), exchange.request(), head.host());
        if (match.isPresent()) {
            UpstreamCall call = new UpstreamCall(
                    upstream,
                    exchange,
                    new UpstreamCall.Target(host, headers),
                    backing.idempotency().maxBody(match.get()),
                    vertx);
            new ProtectedExchange(exchange, backing.idempotency(), match.get(), call, vertx, traffic).start();
        } else if (head.wantsWebSocket(exchange.request().version())) {
            new Tunnel(exchange, upstream, vertx, traffic).open(host, headers);
        } else {
            new PassThrough(exchange, upstream, vertx, traffic).start(host, headers);
        }
    }

    /** What of a client's headers is for the upstream; nobody but us says {@code Hapax-*} to it. */
    private static Headers endToEnd(Headers headers) {
        return HopByHop.removed(headers).without(name -> {
            String lower = name.toLowerCase(Locale.ROOT);
            return lower.equals("content-length") || lower.startsWith("hapax-");
        });
    }

    private static boolean isReserved(String path) {
        return path.startsWith(HttpIdempotency.RESERVED_PATH) || (path + '/').equals(HttpIdempotency.RESERVED_PATH);
    }

    private void answerReserved(Exchange exchange, RequestHead head) {
        exchange.whenGone(exchange::finish);
        backing.idempotency()
                .reserved(new HttpRequest(
                        head.method().name(),
                        head.path(),
                        head.query(),
                        head.headers(),
                        new byte[0],
                        ClientCertificate.subjectOf(exchange.request())))
                .whenCompleteAsync(
                        (response, error) -> {
                            if (response != null) {
                                exchange.answer(response);
                            } else {
                                log.error("A status could not be told", error);
                                exchange.answer(Problem.INTERNAL, "it failed in a way that has no name");
                            }
                        },
                        exchange.executor());
    }

    /** A request of which not even the head could be decoded. */
    private void refuse(HttpServerRequest request) {
        if (comesTooLate(request)) {
            return;
        }
        Throwable cause = request.decoderResult().cause();
        Problem problem = cause instanceof TooLongHttpLineException
                ? Problem.TARGET_TOO_LONG
                : cause instanceof TooLongHttpHeaderException ? Problem.HEADERS_TOO_LARGE : Problem.REQUEST_INVALID;
        exchange(request, null).answer(problem, "its head cannot be read");
    }

    /** A client that was told of its last response here gets no other one, nor does one that has gone. */
    private static boolean comesTooLate(HttpServerRequest request) {
        ClientChannel channel = ClientChannel.of(request.connection());
        return channel == null || channel.takesNoMore();
    }

    private Exchange exchange(HttpServerRequest request, @Nullable RequestHead head) {
        return new Exchange(request, head, vertx, traffic);
    }

    private Upstreams upstreams() {
        if (upstreams == null) {
            throw new IllegalStateException("not started");
        }
        return upstreams;
    }
}
