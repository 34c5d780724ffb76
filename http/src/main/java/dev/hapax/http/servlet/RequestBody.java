package dev.hapax.http.servlet;

import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Reads what a client sends, to its end or not at all. */
final class RequestBody {
    private RequestBody() {}

    /** @throws ProblemException when it is too large, or did not arrive */
    static byte[] read(HttpServletRequest request, int most) {
        if (request.getContentLengthLong() > most) {
            throw tooLarge(most);
        }
        byte[] body;
        try {
            body = request.getInputStream().readNBytes(most == Integer.MAX_VALUE ? most : most + 1);
        } catch (IOException | RuntimeException broken) { // Jetty throws unchecked ones for broken chunks
            throw isTimeout(broken)
                    ? new ProblemException(Problem.REQUEST_TIMEOUT, "the body did not arrive in time")
                    : new ProblemException(Problem.REQUEST_INVALID, "the body did not arrive whole");
        }
        if (body.length > most) {
            throw tooLarge(most);
        }
        return body;
    }

    private static ProblemException tooLarge(int most) {
        return new ProblemException(Problem.REQUEST_TOO_LARGE, "the body has more than " + most + " bytes");
    }

    private static boolean isTimeout(@Nullable Throwable thrown) {
        return thrown != null
                && (thrown instanceof SocketTimeoutException
                        || thrown instanceof TimeoutException
                        || isTimeout(thrown.getCause()));
    }
}
