package dev.hapax.gateway.proxy;

import dev.hapax.memory.MemoryStore;
import dev.hapax.testkit.http.HostileContract;
import dev.hapax.testkit.http.HttpSubject;

/** Ten thousand requests that are up to no good. */
class GatewayHostileTest extends HostileContract {
    private static final HttpSubject SUBJECT = GatewaySubject.on(new MemoryStore());

    @Override
    protected HttpSubject subject() {
        return SUBJECT;
    }

    @Override
    protected int requests() {
        return 10_000;
    }
}
