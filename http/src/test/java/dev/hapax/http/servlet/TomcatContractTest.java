package dev.hapax.http.servlet;

import dev.hapax.testkit.http.HttpContract;
import dev.hapax.testkit.http.HttpSubject;

class TomcatContractTest extends HttpContract {
    private static final HttpSubject SUBJECT = FilterSubject.in(Container.TOMCAT);

    @Override
    protected HttpSubject subject() {
        return SUBJECT;
    }
}
