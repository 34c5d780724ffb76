package dev.hapax.gateway.proxy;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.gateway.proxy.GatewaySettings.Address;
import dev.hapax.gateway.proxy.GatewaySettings.Forwarding;
import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import dev.hapax.gateway.proxy.GatewaySettings.Tls;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.KeySource;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import dev.hapax.http.Routes;
import dev.hapax.http.TenantSource;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Store;
import dev.hapax.store.WhenAbandoned;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;

/**
 * A gateway on a free port of 127.0.0.1. {@code POST /charges} is protected unless told otherwise, with a key in its
 * header; everything else passes.
 */
final class TestGateway implements AutoCloseable {
    static {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // the machine may be busy
    }

    static final String CHARGES = "/charges";

    private final Gateway gateway;
    private final Hapax hapax;

    private TestGateway(Gateway gateway, Hapax hapax) {
        this.gateway = gateway;
        this.hapax = hapax;
    }

    static Builder before(URI upstream) {
        return new Builder(Upstream.of(upstream));
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + gateway.port());
    }

    URI uri(String path) {
        return uri().resolve(path);
    }

    int port() {
        return gateway.port();
    }

    URI admin(String path) {
        return URI.create("http://127.0.0.1:" + gateway.adminPort().orElseThrow() + path);
    }

    /** The value of a metric without labels. */
    double metric(String name) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(admin("/metrics")).build(), BodyHandlers.ofString())
                .body()
                .lines()
                .filter(line -> line.startsWith(name + ' '))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
                .findFirst()
                .orElseThrow();
    }

    Gateway gateway() {
        return gateway;
    }

    Hapax hapax() {
        return hapax;
    }

    @Override
    public void close() {
        gateway.stop().toCompletableFuture().join();
        hapax.close();
    }

    static final class Builder {
        private Upstream upstream;
        private Limits limits = Limits.DEFAULT;
        private Forwarding forwarding = Forwarding.DEFAULT;
        private Tls tls;
        private Duration grace = Duration.ZERO;
        private int port;
        private Store store = new MemoryStore();
        private TenantSource tenants = new TenantSource.Authorization();
        private final List<Route> routes = new ArrayList<>();
        private final Map<String, Policy> scopes = new LinkedHashMap<>();

        private Builder(Upstream upstream) {
            this.upstream = upstream;
        }

        Builder upstream(UnaryOperator<Upstream> change) {
            upstream = change.apply(upstream);
            return this;
        }

        Builder responseTimeout(Duration timeout) {
            return upstream(old -> new Upstream(
                    old.pathPrefix(),
                    old.uri(),
                    old.protocol(),
                    old.connectTimeout(),
                    timeout,
                    old.pool(),
                    old.authorities()));
        }

        Builder pool(GatewaySettings.Pool pool) {
            return upstream(old -> new Upstream(
                    old.pathPrefix(),
                    old.uri(),
                    old.protocol(),
                    old.connectTimeout(),
                    old.responseTimeout(),
                    pool,
                    old.authorities()));
        }

        Builder limits(Limits limits) {
            this.limits = limits;
            return this;
        }

        Builder forwarding(Forwarding forwarding) {
            this.forwarding = forwarding;
            return this;
        }

        Builder tls(Tls tls) {
            this.tls = tls;
            return this;
        }

        Builder port(int port) {
            this.port = port;
            return this;
        }

        Builder grace(Duration grace) {
            this.grace = grace;
            return this;
        }

        Builder store(Store store) {
            this.store = store;
            return this;
        }

        Builder tenants(TenantSource tenants) {
            this.tenants = tenants;
            return this;
        }

        Builder route(Route route, Policy policy) {
            routes.add(route);
            scopes.put(route.scope(), policy);
            return this;
        }

        Builder charges(Policy policy) {
            return route(
                    new Route(
                            "POST",
                            PathPattern.of(CHARGES),
                            "charges",
                            KeySource.Header.DEFAULT,
                            HttpPolicy.defaults()),
                    policy);
        }

        TestGateway start() {
            if (routes.isEmpty()) {
                charges(Policy.defaults().whenAbandoned(WhenAbandoned.PARK));
            }
            GatewayMetrics metrics = new GatewayMetrics(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
            Hapax.Builder builder = Hapax.on(store).listener(metrics);
            scopes.forEach(builder::scope);
            Hapax hapax = builder.build();
            Address anywhere = new Address("127.0.0.1", 0);
            GatewaySettings settings = new GatewaySettings(
                    new Address("127.0.0.1", port), tls, true, limits, forwarding, List.of(upstream), grace, anywhere);
            HttpIdempotency idempotency = new HttpIdempotency(hapax, new Routes(routes), tenants);
            Gateway gateway = Gateway.start(settings, new Gateway.Backing(idempotency, hapax, metrics))
                    .toCompletableFuture()
                    .join();
            return new TestGateway(gateway, hapax);
        }
    }
}
