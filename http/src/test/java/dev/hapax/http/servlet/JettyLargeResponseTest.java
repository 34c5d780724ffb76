package dev.hapax.http.servlet;

class JettyLargeResponseTest extends LargeResponseTests {
    private static final Lab LAB = Lab.in(Container.JETTY);

    @Override
    Lab lab() {
        return LAB;
    }
}
