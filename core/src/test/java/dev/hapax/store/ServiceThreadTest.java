package dev.hapax.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ServiceThreadTest {

    /** Or a worker would serve all tenants with the tenant of the caller that happened to start it. */
    @Test
    void callersInheritableThreadLocalsAreNotInherited() {
        InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
        tenant.set("ann");
        try {
            CompletableFuture<Boolean> inherited = new CompletableFuture<>();
            ServiceThread.factory("test")
                    .newThread(() -> inherited.complete(tenant.get() != null))
                    .start();

            assertThat(inherited.join()).isFalse();
        } finally {
            tenant.remove();
        }
    }
}
