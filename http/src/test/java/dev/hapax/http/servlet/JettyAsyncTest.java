package dev.hapax.http.servlet;

class JettyAsyncTest extends AsyncTests {
    private static final Lab LAB = Lab.in(Container.JETTY);

    @Override
    Lab lab() {
        return LAB;
    }
}
