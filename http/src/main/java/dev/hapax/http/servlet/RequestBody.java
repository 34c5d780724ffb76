package dev.hapax.http.servlet;

import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Reads what a client sends, to its end or not at all. */
final class RequestBody {
    /** How much of a body that is refused is read all the same: many clients hear nothing before they have sent it. */
    private static final int PATIENCE = 1 << 20;

    private RequestBody() {}

    /** @throws ProblemException when it is too large, or did not arrive */
    static byte[] read(HttpServletRequest request, int most) {
        byte[] body;
        boolean whole;
        try {
            InputStream in = request.getInputStream();
            body = in.readNBytes(request.getContentLengthLong() > most ? 0 : most);
            whole = in.read() < 0;
            long unused = whole ? 0 : in.skip(PATIENCE);
        } catch (IOException | RuntimeException broken) { // Jetty throws unchecked ones for broken chunks
            throw isTimeout(broken)
                    ? new ProblemException(Problem.REQUEST_TIMEOUT, "the body did not arrive in time")
                    : new ProblemException(Problem.REQUEST_INVALID, "the body did not arrive whole");
        }
        if (!whole) {
            throw new ProblemException(Problem.REQUEST_TOO_LARGE, "the body has more than " + most + " bytes");
        }
        return body;
    }

    private static boolean isTimeout(@Nullable Throwable thrown) {
        return thrown != null
                && (thrown instanceof SocketTimeoutException
                        || thrown instanceof TimeoutException
                        || isTimeout(thrown.getCause()));
    }
}
