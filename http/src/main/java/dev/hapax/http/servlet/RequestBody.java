package dev.hapax.http.servlet;

import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads what a client sends, to its end or not at all. */
final class RequestBody {
    /** How much of a body that is refused is read all the same: many clients hear nothing before they have sent it. */
    private static final int PATIENCE = 1 << 20;

    private static final Logger log = LoggerFactory.getLogger(RequestBody.class);

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

    /** Takes what a client sends although nobody wants it. */
    static void discard(HttpServletRequest request) {
        try {
            long unused = request.getInputStream().skip(PATIENCE);
        } catch (IOException | RuntimeException broken) {
            log.debug("The body of a request that is refused did not arrive", broken);
        }
    }

    private static boolean isTimeout(@Nullable Throwable thrown) {
        return thrown != null
                && (thrown instanceof SocketTimeoutException
                        || thrown instanceof TimeoutException
                        || isTimeout(thrown.getCause()));
    }
}
