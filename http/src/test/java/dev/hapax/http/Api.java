package dev.hapax.http;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Store;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** An API with one protected route, {@code POST /v1/charges}, and what its tests say to it. */
final class Api implements AutoCloseable {
    static final String PATH = "/v1/charges";
    static final String SCOPE = "payments";

    final AtomicInteger runs = new AtomicInteger();
    final HttpIdempotency http;
    final Hapax hapax;

    private Api(Store store, Route route, Policy policy, TenantSource tenants) {
        hapax = Hapax.on(store).scope(SCOPE, policy).withoutSweeper().build();
        http = new HttpIdempotency(hapax, new Routes(List.of(route)), tenants);
    }

    static Api defaults() {
        return with(Policy.defaults(), HttpPolicy.defaults());
    }

    static Api with(Policy policy, HttpPolicy httpPolicy) {
        return on(new MemoryStore(), policy, httpPolicy);
    }

    static Api on(Store store, Policy policy, HttpPolicy httpPolicy) {
        return new Api(store, route(KeySource.Header.DEFAULT, httpPolicy), policy, new TenantSource.Authorization());
    }

    static Api on(Store store, Policy policy, Route route) {
        return new Api(store, route, policy, new TenantSource.Authorization());
    }

    static Api with(TenantSource tenants) {
        return new Api(
                new MemoryStore(), route(KeySource.Header.DEFAULT, HttpPolicy.defaults()), Policy.defaults(), tenants);
    }

    static Route route(KeySource key, HttpPolicy policy) {
        return new Route("POST", PathPattern.of(PATH), SCOPE, key, policy);
    }

    static HttpRequest request(String body, String... headers) {
        return new HttpRequest("POST", PATH, "", Headers.of(headers), bytes(body), null);
    }

    static HttpRequest keyed(String key) {
        return request("{\"amount\":1}", "Idempotency-Key", key, "Content-Type", "application/json");
    }

    /** Sends a request whose work answers with the number of its run. */
    HttpResponse send(HttpRequest request) {
        return send(request, run -> created("run " + run));
    }

    HttpResponse send(HttpRequest request, Function<Integer, HttpResponse> work) {
        return run(request, operation -> CompletableFuture.completedFuture(work.apply(runs.incrementAndGet())));
    }

    HttpResponse run(HttpRequest request, Work work) {
        return get(begin(request, work));
    }

    CompletionStage<HttpResponse> begin(HttpRequest request, Work work) {
        Match match =
                http.match(request.method(), request.path(), request.headers()).orElseThrow();
        return http.run(match, request, work, Runnable::run);
    }

    HttpResponse look(String path, String... headers) {
        return get(http.reserved(new HttpRequest("GET", path, "", Headers.of(headers), new byte[0], null)));
    }

    static HttpResponse get(CompletionStage<HttpResponse> stage) {
        try {
            return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new CompletionException(e);
        }
    }

    static HttpResponse created(String body, String... headers) {
        return answer(201, body, headers);
    }

    static HttpResponse answer(int status, String body, String... headers) {
        return new HttpResponse(status, Headers.of(headers), bytes(body));
    }

    static String text(HttpResponse response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        hapax.close();
    }
}
