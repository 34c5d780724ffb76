package dev.hapax.gateway.proxy;

import dev.hapax.testkit.http.HttpContract;
import dev.hapax.testkit.http.HttpSubject;

/** The gateway keeps the contract, with PostgreSQL behind it. */
class GatewayHttpTest extends HttpContract {
    private static final HttpSubject SUBJECT = GatewaySubject.on(TestPostgres.store());

    @Override
    protected HttpSubject subject() {
        return SUBJECT;
    }
}
