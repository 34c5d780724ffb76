package dev.hapax.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Flags come before the environment, which comes before the file, which comes before the defaults. */
class PrecedenceTest {
    private static final String FILE = """
            listen: 1001
            upstream: {url: "http://file", connect-timeout: 7s}
            store: jdbc:postgresql://file/hapax
            defaults: {retention: 1h}
            routes:
              - match: POST /a
              - match: POST /b
                retention: 2h
            """;

    @Test
    void eachLayerHidesTheOnesBelow() {
        assertThat(sources().read().configuration().gateway().listen().port()).isEqualTo(1001);
        assertThat(environment("HAPAX_LISTEN", "1002")
                        .read()
                        .configuration()
                        .gateway()
                        .listen()
                        .port())
                .isEqualTo(1002);
        assertThat(environment("HAPAX_LISTEN", "1002")
                        .flag("--listen", "listen", "1003")
                        .read()
                        .configuration()
                        .gateway()
                        .listen()
                        .port())
                .isEqualTo(1003);
    }

    @Test
    void aShortFormAboveHidesOnlyWhatItSays() {
        var upstream = environment("HAPAX_UPSTREAM", "http://environment")
                .read()
                .configuration()
                .gateway()
                .upstreams()
                .get(0);

        assertThat(upstream.uri()).isEqualTo(URI.create("http://environment"));
        assertThat(upstream.connectTimeout()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void aPasswordOfTheEnvironmentJoinsTheStoreOfTheFileAndIsTakenAsItIs() {
        StoreSettings store = environment("HAPAX_STORE_PASSWORD", "{a: #&${X}")
                .read()
                .configuration()
                .store();

        assertThat(store.jdbcUrl()).contains("jdbc:postgresql://file/hapax");
        assertThat(store.password()).contains("{a: #&${X}");
    }

    @Test
    void placesInListsCanBeSet() {
        Configuration configuration = environment("HAPAX_ROUTES_1_WHEN_IN_FLIGHT", "wait 3s")
                .flag("--set routes.0.retention", "routes.0.retention", "5h")
                .flag("--set routes.2.match", "routes.2.match", "POST /c")
                .read()
                .configuration();

        assertThat(configuration.scopes().get("POST:/a").retention()).isEqualTo(Duration.ofHours(5));
        assertThat(configuration.scopes().get("POST:/b").whenInFlight().atMost())
                .isEqualTo(Duration.ofSeconds(3));
        assertThat(configuration.scopes().get("POST:/c").retention()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void aRouteHidesTheDefaultsWhereverTheyComeFrom() {
        Configuration configuration =
                environment("HAPAX_DEFAULTS_RETENTION", "9h").read().configuration();

        assertThat(configuration.scopes().get("POST:/a").retention()).isEqualTo(Duration.ofHours(9));
        assertThat(configuration.scopes().get("POST:/b").retention()).isEqualTo(Duration.ofHours(2));
    }

    @Test
    void groupsAndListsCanBeWrittenInOneLine() {
        Configuration configuration = sources()
                .flag("--set routes", "routes", "[{match: POST /z, stored-headers: [A, B]}]")
                .flag("--set store", "store", "{url: embedded, pool: 4}")
                .read()
                .configuration();

        assertThat(configuration.routes().routes())
                .singleElement()
                .satisfies(route -> assertThat(route.policy().storedHeaders()).hasSize(2));
        assertThat(configuration.store().pool()).isEqualTo(4);
    }

    @Test
    void noFileIsNeeded() {
        Configuration configuration = new ConfigurationSources()
                .environment(Map.of("HAPAX_UPSTREAM", "http://a", "HAPAX_STORE", "embedded", "PATH", "/bin"))
                .read()
                .configuration();

        assertThat(configuration.store().isEmbedded()).isTrue();
    }

    @Test
    void whatKubernetesSaysAboutAServiceCalledHapaxIsNoSetting() {
        assertThat(new ConfigurationSources()
                        .text("hapax.yaml", FILE)
                        .environment(Map.of(
                                "HAPAX_PORT", "tcp://10.0.0.1:80",
                                "HAPAX_PORT_80_TCP_ADDR", "10.0.0.1",
                                "HAPAX_SERVICE_HOST", "10.0.0.1",
                                "HAPAX_GATEWAY_SERVICE_PORT_HTTP", "80",
                                "HAPAX_COLOUR", "yes"))
                        .read()
                        .configuration()
                        .gateway()
                        .listen()
                        .port())
                .isEqualTo(1001);
    }

    private static ConfigurationSources sources() {
        return new ConfigurationSources().text("hapax.yaml", FILE);
    }

    private static ConfigurationSources environment(String variable, String value) {
        return sources().environment(Map.of(variable, value));
    }
}
