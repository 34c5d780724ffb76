package dev.hapax.http.servlet;

import dev.hapax.OutcomeUnknownException;
import dev.hapax.testkit.http.ContractApplication;
import dev.hapax.testkit.http.ContractRequest;
import dev.hapax.testkit.http.ContractResponse;
import dev.hapax.testkit.http.HangUpException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The contract's application as a servlet. */
final class ContractServlet extends HttpServlet {
    private static final int PIECES = 7;

    private final transient ContractApplication application;

    ContractServlet(ContractApplication application) {
        this.application = application;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Map<String, List<String>> headers = new HashMap<>();
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name, Collections.list(request.getHeaders(name)));
        }
        ContractRequest asked = new ContractRequest(
                request.getMethod(),
                request.getRequestURI(),
                headers,
                request.getInputStream().readAllBytes(),
                request.getAttribute(HapaxFilter.OPERATION) != null);
        try {
            send(application.answer(asked), response);
        } catch (HangUpException hangUp) {
            throw new OutcomeUnknownException("the application hung up", hangUp);
        }
    }

    private static void send(ContractResponse answer, HttpServletResponse response) throws IOException {
        response.setStatus(answer.status());
        answer.headers().forEach(header -> response.addHeader(header.getKey(), header.getValue()));
        byte[] body = answer.body();
        if (!answer.chunked()) {
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
            return;
        }
        int piece = body.length / PIECES + 1;
        for (int from = 0; from < body.length; from += piece) {
            response.getOutputStream().write(body, from, Math.min(piece, body.length - from));
            response.flushBuffer();
        }
    }
}
