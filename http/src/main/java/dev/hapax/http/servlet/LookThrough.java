package dev.hapax.http.servlet;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

/** A captured response that shows the container its own response behind it, and passes nothing on to that. */
final class LookThrough extends HttpServletResponseWrapper {
    private final HttpServletResponse behind;

    LookThrough(CapturedResponse captured, HttpServletResponse behind) {
        super(captured);
        this.behind = behind;
    }

    @Override
    public ServletResponse getResponse() {
        return behind;
    }
}
