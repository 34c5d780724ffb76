package dev.hapax.http.servlet;

class TomcatLargeResponseTest extends LargeResponseTests {
    private static final Lab LAB = Lab.in(Container.TOMCAT);

    @Override
    Lab lab() {
        return LAB;
    }
}
