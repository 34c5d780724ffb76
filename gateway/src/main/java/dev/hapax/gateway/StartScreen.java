package dev.hapax.gateway;

import dev.hapax.Policy;
import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.config.Words;
import dev.hapax.gateway.proxy.GatewaySettings;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import dev.hapax.http.Route;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a gateway says when it has started: where it listens, and what it does there. */
final class StartScreen {
    private StartScreen() {}

    static Map<String, List<String>> of(Configuration configuration, RunningGateway running) {
        GatewaySettings settings = configuration.gateway();
        Map<String, List<String>> facts = new LinkedHashMap<>();
        String scheme = settings.tls() == null ? "http://" : "https://";
        facts.put("listening", List.of(scheme + Addresses.text(settings.listen().host(), running.port())));
        facts.put("admin", List.of(admin(settings, running)));
        facts.put(
                "upstream",
                settings.upstreams().stream().map(StartScreen::upstream).toList());
        facts.put("store", List.of(configuration.store().shown()));
        facts.put("tenant", List.of(Words.of(configuration.tenant())));
        facts.put("routes", routes(configuration));
        return facts;
    }

    private static String admin(GatewaySettings settings, RunningGateway running) {
        GatewaySettings.Address admin = settings.admin();
        return admin == null || running.adminPort().isEmpty()
                ? "off"
                : "http://" + Addresses.text(admin.host(), running.adminPort().getAsInt())
                        + "  /health/live /health/ready /metrics";
    }

    private static String upstream(Upstream upstream) {
        return upstream.uri() + (upstream.pathPrefix().equals("/") ? "" : "  for " + upstream.pathPrefix());
    }

    private static List<String> routes(Configuration configuration) {
        List<List<String>> rows = new ArrayList<>();
        for (Route route : configuration.routes().routes()) {
            Policy policy = configuration.scopes().get(route.scope());
            if (policy != null) {
                rows.add(List.of(
                        route.method() + " " + route.path(),
                        route.scope(),
                        Words.of(route.key()),
                        Words.of(policy.retention()),
                        Words.of(policy.whenInFlight())));
            }
        }
        return rows.isEmpty() ? List.of("none: all requests pass unprotected") : Screen.table(rows);
    }
}
