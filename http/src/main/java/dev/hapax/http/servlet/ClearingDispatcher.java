package dev.hapax.http.servlet;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;

/** Clears the response before a forward, as it should be: Jetty clears its own only, past all that wraps it. */
record ClearingDispatcher(RequestDispatcher dispatcher) implements RequestDispatcher {

    @Override
    public void forward(ServletRequest request, ServletResponse response) throws ServletException, IOException {
        response.resetBuffer();
        dispatcher.forward(request, response);
    }

    @Override
    public void include(ServletRequest request, ServletResponse response) throws ServletException, IOException {
        dispatcher.include(request, response);
    }
}
