package dev.hapax.gateway.config;

import dev.hapax.Policy;
import dev.hapax.gateway.proxy.GatewaySettings;
import dev.hapax.http.Routes;
import dev.hapax.http.TenantSource;
import java.util.Map;

/**
 * All that a gateway is told. Immutable.
 *
 * @param scopes the scopes of the routes, and how their operations are treated
 */
public record Configuration(
        GatewaySettings gateway, StoreSettings store, TenantSource tenant, Map<String, Policy> scopes, Routes routes) {
    public Configuration {
        scopes = Map.copyOf(scopes);
    }
}
