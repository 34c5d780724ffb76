package dev.hapax.http.servlet;

class TomcatAsyncTest extends AsyncTests {
    private static final Lab LAB = Lab.in(Container.TOMCAT);

    @Override
    Lab lab() {
        return LAB;
    }
}
