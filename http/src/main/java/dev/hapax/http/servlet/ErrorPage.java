package dev.hapax.http.servlet;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.UnavailableException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renders what {@code sendError} reports. The container does so only after the filter is gone, when the response would
 * be stored without a body; so it is done here, the same for the first caller and for a replay.
 *
 * @param path where the application renders errors itself; empty for problem+json
 */
record ErrorPage(@Nullable String path) {
    private static final Logger log = LoggerFactory.getLogger(ErrorPage.class);

    /** What went wrong, as the servlet API tells it. */
    record Failure(
            int status, @Nullable String message, @Nullable Throwable thrown) {}

    /** How a failure becomes a response. */
    @FunctionalInterface
    interface Rendering {
        void render(Failure failure) throws IOException;
    }

    /** Whether a failure is a response of the application's rather than a failure of its work. */
    boolean renders(Throwable thrown) {
        return path != null || thrown instanceof UnavailableException;
    }

    static Failure failure(Throwable thrown) {
        int status = thrown instanceof UnavailableException ? 503 : 500;
        return new Failure(status, thrown.getMessage(), thrown);
    }

    /** @param presented what {@code response} looks like to the application */
    void render(Failure failure, HttpServletRequest request, HttpServletResponse presented, CapturedResponse response)
            throws IOException {
        response.startOver(failure.status());
        if (path != null && forward(path, new FailedRequest(request, failure), presented) && !response.hasFailed()) {
            return;
        }
        response.startOver(failure.status());
        response.setContentType("application/problem+json");
        response.getOutputStream().write(problem(failure).getBytes(StandardCharsets.UTF_8));
    }

    private static boolean forward(String path, HttpServletRequest request, HttpServletResponse response) {
        RequestDispatcher dispatcher = request.getRequestDispatcher(path);
        if (dispatcher == null) {
            log.error("There is no error page at {}", path);
            return false;
        }
        try {
            dispatcher.forward(request, response);
            return true;
        } catch (IOException | ServletException | RuntimeException broken) {
            log.error("The error page at {} failed", path, broken);
            return false;
        }
    }

    private static String problem(Failure failure) {
        StringBuilder json = new StringBuilder("{\"type\":\"about:blank\",\"title\":\"");
        json.append(failure.status() < 500 ? "The request was refused" : "The request failed");
        json.append("\",\"status\":").append(failure.status());
        if (failure.message() != null && failure.thrown() == null) {
            json.append(",\"detail\":\"");
            json.append(JsonStringEncoder.getInstance().quoteAsString(failure.message()));
            json.append('"');
        }
        return json.append('}').toString();
    }
}
