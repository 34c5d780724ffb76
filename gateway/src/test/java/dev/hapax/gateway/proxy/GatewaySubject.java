package dev.hapax.gateway.proxy;

import dev.hapax.http.FingerprintRule;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.HttpPolicy.ServerErrors;
import dev.hapax.http.JsonPointer;
import dev.hapax.http.KeySource;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import dev.hapax.store.Store;
import dev.hapax.testkit.http.ContractApplication;
import dev.hapax.testkit.http.ContractRoute;
import dev.hapax.testkit.http.ContractUpstream;
import dev.hapax.testkit.http.HttpSubject;
import dev.hapax.testkit.http.SwitchableStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.util.List;
import java.util.Set;

/** The gateway in front of the contract's application. */
final class GatewaySubject extends HttpSubject {
    private final ContractApplication application = new ContractApplication();
    private final SwitchableStore store;
    private final TestGateway gateway;

    private GatewaySubject(Store store) throws IOException {
        this.store = new SwitchableStore(store);
        TestGateway.Builder builder =
                TestGateway.before(ContractUpstream.start(application, 0).uri()).store(this.store);
        for (ContractRoute route : ContractRoute.values()) {
            builder.route(
                    new Route(
                            route.method(),
                            PathPattern.of(route.path()),
                            route.scope(),
                            keySource(route),
                            policy(route)),
                    route.policy());
        }
        gateway = builder.start();
    }

    static GatewaySubject on(Store store) {
        try {
            return new GatewaySubject(store);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static KeySource keySource(ContractRoute route) {
        return switch (route.key()) {
            case HEADER -> KeySource.Header.DEFAULT;
            case STRICT_HEADER -> new KeySource.Header("Idempotency-Key", true);
            case MEMBER -> new KeySource.PayloadField(JsonPointer.of("/delivery_id"));
            case NATURAL -> new KeySource.Natural(List.of("order_id"), List.of());
            case BODY_HASH -> new KeySource.BodyHash(List.of(), KeySource.BodyHash.DEFAULT_INTENT_HEADER, new byte[0]);
        };
    }

    private static HttpPolicy policy(ContractRoute route) {
        return new HttpPolicy(
                route.keyRequired(),
                route.releasesServerErrors() ? ServerErrors.RELEASE : ServerErrors.STORE,
                FingerprintRule.WHOLE,
                Set.of());
    }

    @Override
    protected URI base(Version version) {
        return gateway.uri();
    }

    @Override
    protected ContractApplication application() {
        return application;
    }

    @Override
    protected void cutStore() {
        store.cut();
    }

    @Override
    protected void mendStore() {
        store.mend();
    }
}
