package dev.hapax.http.servlet;

import dev.hapax.Hapax;
import dev.hapax.http.FingerprintRule;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.HttpPolicy.ServerErrors;
import dev.hapax.http.JsonPointer;
import dev.hapax.http.KeySource;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import dev.hapax.http.Routes;
import dev.hapax.http.TenantSource;
import dev.hapax.memory.MemoryStore;
import dev.hapax.testkit.http.ContractApplication;
import dev.hapax.testkit.http.ContractRoute;
import dev.hapax.testkit.http.HttpSubject;
import dev.hapax.testkit.http.SwitchableStore;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The filter in a container, in front of the contract's application. */
final class FilterSubject extends HttpSubject {
    private final ContractApplication application = new ContractApplication();
    private final SwitchableStore store = new SwitchableStore(new MemoryStore());
    private final URI base;

    private FilterSubject(Container container) throws Exception {
        HapaxFilter filter = new HapaxFilter(idempotency(store));
        base = container.start(new Container.Site("/", filter, Map.of("/*", new ContractServlet(application))));
    }

    static FilterSubject in(Container container) {
        try {
            return new FilterSubject(container);
        } catch (Exception failed) {
            throw new IllegalStateException(container + " did not start", failed);
        }
    }

    private static HttpIdempotency idempotency(SwitchableStore store) {
        Hapax.Builder hapax = Hapax.on(store);
        List<Route> routes = new ArrayList<>();
        for (ContractRoute route : ContractRoute.values()) {
            hapax.scope(route.scope(), route.policy());
            routes.add(new Route(
                    route.method(), PathPattern.of(route.path()), route.scope(), keySource(route), policy(route)));
        }
        return new HttpIdempotency(hapax.build(), new Routes(routes), new TenantSource.Authorization());
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
        return base;
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
