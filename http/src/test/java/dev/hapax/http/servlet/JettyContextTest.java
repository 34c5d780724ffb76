package dev.hapax.http.servlet;

class JettyContextTest extends ContextTests {
    private static final Lab LAB = Lab.in(Container.JETTY, "/shop", SETTINGS);

    @Override
    Lab lab() {
        return LAB;
    }
}
