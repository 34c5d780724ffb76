package dev.hapax.http.servlet;

class TomcatContextTest extends ContextTests {
    private static final Lab LAB = Lab.in(Container.TOMCAT, "/shop", SETTINGS);

    @Override
    Lab lab() {
        return LAB;
    }
}
