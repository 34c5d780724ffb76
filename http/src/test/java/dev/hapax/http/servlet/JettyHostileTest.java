package dev.hapax.http.servlet;

import dev.hapax.testkit.http.HostileContract;
import dev.hapax.testkit.http.HttpSubject;

class JettyHostileTest extends HostileContract {
    private static final HttpSubject SUBJECT = FilterSubject.in(Container.JETTY);

    @Override
    protected HttpSubject subject() {
        return SUBJECT;
    }
}
