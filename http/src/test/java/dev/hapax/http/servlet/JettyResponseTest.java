package dev.hapax.http.servlet;

class JettyResponseTest extends ResponseTests {
    private static final Lab LAB = Lab.in(Container.JETTY);

    @Override
    Lab lab() {
        return LAB;
    }
}
