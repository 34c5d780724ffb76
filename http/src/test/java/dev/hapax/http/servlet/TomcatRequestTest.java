package dev.hapax.http.servlet;

class TomcatRequestTest extends RequestTests {
    private static final Lab LAB = Lab.in(Container.TOMCAT);

    @Override
    Lab lab() {
        return LAB;
    }
}
