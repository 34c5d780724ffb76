package dev.hapax.gateway.config;

import dev.hapax.Policy;
import dev.hapax.gateway.proxy.GatewaySettings;
import dev.hapax.gateway.proxy.GatewaySettings.Address;
import dev.hapax.gateway.proxy.GatewaySettings.Forwarding;
import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import dev.hapax.gateway.proxy.GatewaySettings.Tls;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import dev.hapax.http.Routes;
import dev.hapax.http.TenantSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All settings. */
final class Schema {
    private static final Setting<Address> LISTEN =
            Setting.of("listen", Scalars.ADDRESS, "8080", "Port, or host and port, where clients come in");
    private static final Setting<Boolean> HTTP2 =
            Setting.of("http2", Scalars.YES_OR_NO, "true", "Whether clients may speak HTTP/2 too");
    private static final Setting<Tls> TLS =
            Setting.optional("tls", ServerSettings.TLS, "TLS towards clients; plain text unless set");
    private static final Setting<Optional<Address>> ADMIN = Setting.of(
            "admin", Scalars.ADDRESS_OR_OFF, "127.0.0.1:8081", "Where health and metrics are served, or `off`");
    private static final Setting<Upstream> UPSTREAM =
            Setting.optional("upstream", UpstreamSettings.ONE, "Where requests go; a URL, or a group to say more");
    private static final Setting<List<Upstream>> UPSTREAMS =
            Setting.optional("upstreams", UpstreamSettings.MANY, "The same for several, by the beginning of the path");
    private static final Setting<StoreSettings> STORE = Setting.required(
            "store", StoreSettings.SECTION, "Where operations are kept; a URL, or a group to say more");
    private static final Setting<TenantSource> TENANT = Setting.of(
            "tenant", TenantForms.SHAPE, "authorization", "Whose keys are whose: tenants never see each other's keys");
    private static final Setting<Limits> LIMITS =
            Setting.group("limits", ServerSettings.LIMITS, "What a client may ask of the gateway");
    private static final Setting<Forwarding> FORWARDING = Setting.group(
            "forwarding", ServerSettings.FORWARDING, "What the upstream is told about where a request came from");
    private static final Setting<Duration> GRACE = Setting.of(
            "shutdown-grace", Scalars.DURATION_OR_NONE, "30s", "How long a stop waits for what is in flight");
    static final Setting<Boolean> DEFAULTS = Setting.optional(
            "defaults", RouteSettings.DEFAULTS, "What holds for every route that does not say otherwise");
    static final Setting<List<RouteSettings>> ROUTES = Setting.optional(
            "routes", RouteSettings.LIST, "The protected requests; the first that fits counts, all others just pass");

    static final Section<Configuration> TOP = Section.of(
            "settings such as listen: 8080",
            Schema::configuration,
            LISTEN,
            HTTP2,
            TLS,
            ADMIN,
            UPSTREAM,
            UPSTREAMS,
            STORE,
            TENANT,
            LIMITS,
            FORWARDING,
            GRACE,
            DEFAULTS,
            ROUTES);

    private Schema() {}

    /** The groups that have a setting of this name. */
    static List<String> placesOf(String name) {
        return SettingPath.all().stream()
                .filter(path -> path.last().equals(name))
                .map(SettingPath::group)
                .distinct()
                .toList();
    }

    private static Configuration configuration(Values values) {
        List<RouteSettings> written = values.find(ROUTES).orElse(List.of());
        Map<String, Policy> scopes = new HashMap<>();
        written.forEach(route -> scopes.put(route.scope(), route.terms().policy()));
        GatewaySettings gateway = new GatewaySettings(
                values.get(LISTEN),
                values.orNull(TLS),
                values.get(HTTP2),
                values.get(LIMITS),
                values.get(FORWARDING),
                upstreams(values),
                values.get(GRACE),
                values.get(ADMIN).orElse(null));
        checkAddresses(values);
        checkCertificates(values);
        return new Configuration(
                gateway,
                values.get(STORE),
                values.get(TENANT),
                scopes,
                new Routes(written.stream().flatMap(RouteSettings::routes).toList()));
    }

    private static List<Upstream> upstreams(Values values) {
        if (values.has(UPSTREAM) && values.has(UPSTREAMS)) {
            values.refuse(UPSTREAMS, "upstream and upstreams are both set; put all of them into upstreams");
        }
        List<Upstream> all = values.find(UPSTREAM)
                .map(List::of)
                .or(() -> values.find(UPSTREAMS))
                .orElse(List.of());
        if (all.isEmpty()) {
            throw new IllegalArgumentException(
                    "upstream is missing: say where requests go, as in upstream: http://localhost:9000");
        }
        return all;
    }

    private static void checkAddresses(Values values) {
        Address listen = values.get(LISTEN);
        Optional<Address> admin = values.get(ADMIN);
        if (listen.port() != 0 && admin.isPresent() && admin.get().port() == listen.port()) {
            values.refuse(
                    values.isSet(ADMIN) ? ADMIN : LISTEN,
                    "listen and admin have the same port %d; choose another for one of them".formatted(listen.port()));
        }
    }

    private static void checkCertificates(Values values) {
        boolean shown =
                values.find(TLS).map(tls -> tls.clientAuthorities() != null).orElse(false);
        if (values.get(TENANT) instanceof TenantSource.Certificate && !shown) {
            values.refuse(TENANT, "tenant is certificate, but clients are not asked for one; set tls.client-ca");
        }
    }
}
