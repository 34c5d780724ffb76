package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.CancellationException;

/** Reads the body of a request whole, up to a size and within a time. Belongs to the request's event loop. */
final class BodyReader {
    private final HttpServerRequest request;
    private final Traffic traffic;
    private final Patience patience;
    private final Promise<byte[]> whole = Promise.promise();
    private Buffer read = Buffer.buffer();
    private int reserved;

    BodyReader(HttpServerRequest request, Traffic traffic, Vertx vertx) {
        this.request = request;
        this.traffic = traffic;
        this.patience = Patience.of(
                vertx,
                traffic.limits().bodyTimeout(),
                () -> refuse(new ProblemException(Problem.REQUEST_TIMEOUT, "its body took too long")));
    }

    static ProblemException tooLarge(Limits limits) {
        return new ProblemException(
                Problem.REQUEST_TOO_LARGE, "its body has more than the " + limits.maxBody() + " bytes allowed here");
    }

    /** Fails with a {@link ProblemException}, or with something else when it was stopped. */
    Future<byte[]> read() {
        patience.start();
        request.handler(this::add);
        request.endHandler(end -> {
            patience.stop();
            whole.tryComplete(read.getBytes());
        });
        request.resume();
        return whole.future();
    }

    /** Reads nothing more. What was read is no longer needed, and what was not never will be whole. */
    void stop() {
        whole.tryFail(new CancellationException());
        patience.stop();
        read = Buffer.buffer();
        traffic.free(reserved);
        reserved = 0;
    }

    private void add(Buffer bytes) {
        if (whole.future().isComplete()) {
            return;
        }
        if (read.length() + bytes.length() > traffic.limits().maxBody()) {
            refuse(tooLarge(traffic.limits()));
        } else if (!traffic.reserve(bytes.length())) {
            refuse(new ProblemException(Problem.OVERLOADED, "there is no room for its body now"));
        } else {
            reserved += bytes.length();
            read.appendBuffer(bytes);
        }
    }

    private void refuse(ProblemException problem) {
        whole.tryFail(problem);
        stop();
    }
}
