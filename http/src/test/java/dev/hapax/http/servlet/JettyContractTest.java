package dev.hapax.http.servlet;

import dev.hapax.testkit.http.HttpContract;
import dev.hapax.testkit.http.HttpSubject;

class JettyContractTest extends HttpContract {
    private static final HttpSubject SUBJECT = FilterSubject.in(Container.JETTY);

    @Override
    protected HttpSubject subject() {
        return SUBJECT;
    }
}
