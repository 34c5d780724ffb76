package dev.hapax.http.servlet;

class JettyRequestTest extends RequestTests {
    private static final Lab LAB = Lab.in(Container.JETTY);

    @Override
    Lab lab() {
        return LAB;
    }
}
