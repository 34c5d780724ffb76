package dev.hapax.gateway.proxy;

import dev.hapax.Hapax;
import dev.hapax.gateway.proxy.GatewaySettings.Address;
import dev.hapax.store.OperationId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Health and metrics, on an event loop of their own: those who ask are answered however busy the gateway is.
 *
 * <p>{@code /health/live}: the process serves. {@code /health/ready}: requests are welcome and the store answers.
 * {@code /metrics}: Prometheus.
 */
final class Admin {
    private static final long STORE_PATIENCE_SECONDS = 2;
    private static final String JSON = "application/json";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final Vertx vertx;
    private final Hapax hapax;
    private final Traffic traffic;
    private final HttpServer server;

    Admin(Hapax hapax, Traffic traffic) {
        this.vertx = GatewayVertx.small();
        this.hapax = hapax;
        this.traffic = traffic;
        this.server = vertx.createHttpServer(new HttpServerOptions().setIdleTimeout(60))
                .requestHandler(this::handle);
    }

    Future<?> listen(Address address) {
        return server.listen(address.port(), address.host());
    }

    int port() {
        return server.actualPort();
    }

    Future<Void> close() {
        return vertx.close();
    }

    private void handle(HttpServerRequest request) {
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            request.response().putHeader(HttpHeaders.ALLOW, "GET, HEAD");
            answer(request, 405, JSON, "{\"error\":\"only GET and HEAD are understood\"}\n");
            return;
        }
        switch (request.path()) {
            case "/health/live" -> answer(request, 200, JSON, "{\"status\":\"live\"}\n");
            case "/health/ready" -> answerReady(request);
            case "/metrics" ->
                answer(request, 200, PROMETHEUS, traffic.metrics().scrape());
            default -> answer(request, 404, JSON, "{\"error\":\"try /health/live, /health/ready, /metrics\"}\n");
        }
    }

    private void answerReady(HttpServerRequest request) {
        if (traffic.isStopping()) {
            answer(request, 503, JSON, notReady("shutting down"));
            return;
        }
        var context = vertx.getOrCreateContext();
        hapax.find(new OperationId(UUID.randomUUID()))
                .toCompletableFuture()
                .orTimeout(STORE_PATIENCE_SECONDS, TimeUnit.SECONDS)
                .whenCompleteAsync(
                        (found, failure) -> {
                            if (failure == null) {
                                answer(request, 200, JSON, "{\"status\":\"ready\"}\n");
                            } else {
                                answer(request, 503, JSON, notReady("the store cannot be reached"));
                            }
                        },
                        task -> context.runOnContext(now -> task.run()));
    }

    private static String notReady(String reason) {
        return "{\"status\":\"not ready\",\"reason\":\"" + reason + "\"}\n";
    }

    private static void answer(HttpServerRequest request, int status, String type, String body) {
        request.response()
                .setStatusCode(status)
                .putHeader(HttpHeaders.CONTENT_TYPE, type)
                .putHeader(HttpHeaders.CACHE_CONTROL, "no-store")
                .end(body);
    }
}
