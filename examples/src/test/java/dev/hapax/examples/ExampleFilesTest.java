package dev.hapax.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.config.ConfigurationSources;
import dev.hapax.http.Route;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The configurations that we ship are valid, and say what they are meant to say. */
class ExampleFilesTest {

    @Test
    void theCommentedExampleIsValid() {
        Configuration configuration =
                new ConfigurationSources().file(Path.of("hapax.yaml")).read().configuration();

        assertThat(configuration.scopes()).containsOnlyKeys("payments", "webhooks", "invoices", "signups", "imports");
    }

    @Test
    void theDemoHasItsRoutes() {
        Configuration configuration = new ConfigurationSources()
                .file(Path.of("demo.yaml"))
                .flag("--port", "upstream", "http://127.0.0.1:1")
                .read()
                .configuration();

        Map<String, String> routes = configuration.routes().routes().stream()
                .collect(Collectors.toMap(route -> route.method() + " " + route.path(), Route::scope));
        assertThat(routes)
                .containsOnlyKeys(
                        "POST /v1/charges",
                        "POST /v1/transfers",
                        "POST /v1/webhooks",
                        "POST /v1/signups",
                        "POST /v1/orders/{order_id}/invoice",
                        "POST /v1/slow-charges");
        Policy charges = configuration.scopes().get("charges");
        assertThat(charges.retention()).isEqualTo(Duration.ofDays(1));
        assertThat(charges.whenInFlight()).isEqualTo(WhenInFlight.REJECT);
        assertThat(configuration.scopes().get("webhooks").retention()).isEqualTo(Duration.ofDays(7));
        assertThat(configuration.scopes().get("signups").retention()).isEqualTo(Duration.ofHours(1));
        assertThat(configuration.scopes().get("signups").window()).isEqualTo(Duration.ofSeconds(10));
        assertThat(configuration.scopes().get("slow-charges").whenInFlight())
                .isEqualTo(WhenInFlight.waitAtMost(Duration.ofSeconds(5)));
    }
}
