package dev.hapax.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.gateway.proxy.GatewaySettings;
import dev.hapax.gateway.proxy.GatewaySettings.Address;
import dev.hapax.http.JsonPointer;
import dev.hapax.http.KeySource;
import dev.hapax.http.Route;
import dev.hapax.http.TenantSource;
import dev.hapax.store.WhenAbandoned;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is made of a valid configuration, and how it is printed. */
class EffectiveTest {
    private static final String EVERYTHING = """
            listen: "[::1]:8443"
            http2: false
            admin: off
            upstreams:
              - {path: /, url: "http://localhost:9000", pool: 8}
              - path: /v2
                url: https://other
                http2: true
                connect-timeout: 1s
                response-timeout: 1m30s
                pool: {size: 4, max-waiting: 0, wait-timeout: 10ms, idle-timeout: 0s}
            store: {url: jdbc:postgresql://db/hapax, user: me, password: "${PW}", pool: 3, connection-timeout: 1s, migrate: false}
            tenant: header X-Account
            limits: {body: 2MB, headers: 64KiB}
            forwarding: {trust-client: true, via: hapax}
            shutdown-grace: 0s
            defaults:
              retention: 2d
              fingerprint: {secret: "${PW}"}
            routes:
              - match: POST /v1/charges
                scope: payments
                when-in-flight: wait 2s
              - match: POST,PUT /v1/orders/{order_id}/invoice
                key: natural {order_id} /amount
                when-abandoned: rerun
                fingerprint: {members: [/amount]}
              - match: /v1/signups
                key: {body-hash: {members: [/email, "/a b"], intent-header: X-Again, secret: "it's: #1"}}
                retention: 1h
                window: 10s
                key-required: false
                server-errors: release
                on-store-failure: open
                stored-headers: X-One, X-Two
              - match: POST /v1/webhooks
                key: body /delivery_id
              - match: DELETE /v1/all/**
                key: strict header X-Key
            """;

    private static final Map<String, String> ENVIRONMENT = Map.of("PW", "ge$heim");

    @Test
    void theDefaultsAreThoseOfTheGateway() {
        Configuration configuration = Configs.read(Configs.MINIMAL).configuration();

        GatewaySettings usual = GatewaySettings.of(
                new Address("0.0.0.0", 8080), GatewaySettings.Upstream.of(URI.create("http://localhost:9000")));
        assertThat(configuration.gateway())
                .usingRecursiveComparison()
                .ignoringFields("admin")
                .isEqualTo(usual);
        assertThat(configuration.gateway().admin()).isEqualTo(new Address("127.0.0.1", 8081));
        assertThat(configuration.tenant()).isInstanceOf(TenantSource.Authorization.class);
        assertThat(configuration.store().isEmbedded()).isTrue();
        assertThat(configuration.store().connectionTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(configuration.routes().routes()).isEmpty();
    }

    @Test
    void aRouteHasTheDefaultsOfTheEngineButParksWhatIsInDoubt() {
        Configuration configuration = Configs.read(Configs.MINIMAL + "routes: [{match: POST /v1/charges}]")
                .configuration();

        Policy policy = configuration.scopes().get("POST:/v1/charges");
        assertThat(policy)
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes("terminal")
                .isEqualTo(Policy.defaults().whenAbandoned(WhenAbandoned.PARK));
        Route route = configuration.routes().routes().get(0);
        assertThat(route.method()).isEqualTo("POST");
        assertThat(route.key()).isEqualTo(KeySource.Header.DEFAULT);
        assertThat(route.policy().keyRequired()).isTrue();
    }

    @Test
    void everythingCanBeSaid() {
        Configuration configuration = Configs.read(EVERYTHING, ENVIRONMENT).configuration();

        assertThat(configuration.gateway().listen()).isEqualTo(new Address("::1", 8443));
        assertThat(configuration.gateway().admin()).isNull();
        assertThat(configuration.gateway().upstreams())
                .extracting(upstream -> upstream.pool().size())
                .containsExactly(8, 4);
        assertThat(configuration.store().password()).contains("ge$heim");
        assertThat(configuration.routes().routes())
                .extracting(Route::method)
                .containsExactly("POST", "POST", "PUT", "POST", "PATCH", "POST", "DELETE");
        assertThat(configuration.routes().routes().get(1).key())
                .isEqualTo(new KeySource.Natural(List.of("order_id"), List.of(JsonPointer.of("/amount"))));
        assertThat(configuration.routes().routes().get(6).key()).isEqualTo(new KeySource.Header("X-Key", true));
        assertThat(configuration.scopes().keySet())
                .isEqualTo(Set.of(
                        "payments",
                        "POST,PUT:/v1/orders/{order_id}/invoice",
                        "/v1/signups",
                        "POST:/v1/webhooks",
                        "DELETE:/v1/all/**"));
        Policy payments = configuration.scopes().get("payments");
        assertThat(payments.retention()).isEqualTo(Duration.ofDays(2));
        assertThat(payments.whenInFlight()).isEqualTo(WhenInFlight.waitAtMost(Duration.ofSeconds(2)));
        assertThat(configuration.scopes().get("/v1/signups").window()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void theDefaultsOfRoutesAndTheirOwnGroupsAreMerged() {
        Route invoice = Configs.read(EVERYTHING, ENVIRONMENT)
                .configuration()
                .routes()
                .routes()
                .get(1);

        assertThat(invoice.policy().fingerprint().members()).containsExactly(JsonPointer.of("/amount"));
        assertThat(invoice.policy().fingerprint().secret()).asString().isEqualTo("ge$heim");
    }

    @Test
    void whatIsPrintedReadsBackAsTheSame() {
        String yaml = EVERYTHING.replace(", secret: \"it's: #1\"", "");
        Effective first = Configs.read(yaml, ENVIRONMENT);
        Effective second = Configs.read(first.yaml(), ENVIRONMENT);

        assertThat(second.configuration().gateway())
                .isEqualTo(first.configuration().gateway());
        assertThat(second.configuration().store())
                .isEqualTo(first.configuration().store());
        assertThat(second.configuration())
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes(".*terminal")
                .isEqualTo(first.configuration());
        assertThat(withoutComments(second.yaml())).isEqualTo(withoutComments(first.yaml()));
    }

    @Test
    void secretsAreNotPrinted() {
        String yaml = Configs.read(EVERYTHING.replace("db/hapax", "db/hapax?user=x&password=ge$heim"), ENVIRONMENT)
                .yaml();

        assertThat(yaml)
                .doesNotContain("heim", "it's")
                .contains("password: '${PW}'")
                .contains("db/hapax?user=x&password=********")
                .contains("secret: '********'");
        assertThat(Configs.mistakes(yaml)).anyMatch(mistake -> mistake.contains("a secret that was not printed"));
    }

    @Test
    void secretsOfEnvironmentAndFlagsAreNotPrintedEither() {
        String yaml = new ConfigurationSources()
                .text("hapax.yaml", "upstream: http://a\nstore: jdbc:postgresql://db/x\n")
                .environment(Map.of("HAPAX_STORE_PASSWORD", "geheim1"))
                .flag("--set", "defaults.fingerprint.secret", "geheim2")
                .flag("--set", "routes.0.match", "POST /x")
                .read()
                .yaml();

        assertThat(yaml).doesNotContain("geheim").contains("'${HAPAX_STORE_PASSWORD}'", "secret: '********'");
    }

    @Test
    void valuesThatAreNotTheDefaultSayWhereTheyComeFrom() {
        String yaml = new ConfigurationSources()
                .text("conf/hapax.yaml", Configs.MINIMAL + "defaults: {lease: 3s}\nroutes: [{match: POST /x}]\n")
                .environment(Map.of("HAPAX_STORE_POOL", "3"))
                .flag("--listen", "listen", "9090")
                .read()
                .yaml();

        assertThat(yaml)
                .containsPattern("listen: 9090 +# --listen\n")
                .containsPattern("  url: http://localhost:9000 +# conf/hapax.yaml:1\n")
                .containsPattern("  pool: 3 +# HAPAX_STORE_POOL\n")
                .containsPattern("  - match: POST /x +# conf/hapax.yaml:4\n")
                .containsPattern("    lease: 3s +# conf/hapax.yaml:3\n")
                .contains("    retention: 24h\n");
    }

    @Test
    void filesAreLookedForBesideTheConfiguration() {
        Effective effective = new ConfigurationSources()
                .text("etc/hapax/hapax.yaml", "upstream: http://a\nstore: {url: embedded, data: data}\n")
                .read();

        assertThat(effective.configuration().store().data()).isEqualTo(Path.of("etc/hapax/data"));
    }

    private static String withoutComments(String yaml) {
        return yaml.lines()
                .map(line -> line.replaceFirst(" +# .*", ""))
                .toList()
                .toString();
    }
}
