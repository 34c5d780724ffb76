package dev.hapax.http.servlet;

class TomcatResponseTest extends ResponseTests {
    private static final Lab LAB = Lab.in(Container.TOMCAT);

    @Override
    Lab lab() {
        return LAB;
    }
}
