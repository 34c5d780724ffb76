package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;

/** Reads the body of a request whole, up to a size and within a time. Belongs to the request's event loop. */
final class BodyReader {
    private final HttpServerRequest request;
    private final Limits limits;
    private final Patience patience;
    private final Promise<byte[]> whole = Promise.promise();
    private Buffer read = Buffer.buffer();

    BodyReader(HttpServerRequest request, Limits limits, Vertx vertx) {
        this.request = request;
        this.limits = limits;
        this.patience = Patience.of(
                vertx, limits.bodyTimeout(), () -> refuse(Problem.REQUEST_TIMEOUT, "its body took too long"));
    }

    static ProblemException tooLarge(Limits limits) {
        return new ProblemException(
                Problem.REQUEST_TOO_LARGE, "its body has more than the " + limits.maxBody() + " bytes allowed here");
    }

    /** Fails with a {@link ProblemException}; never completes if the client goes away. */
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

    /** Reads nothing more. */
    void stop() {
        patience.stop();
        read = Buffer.buffer();
    }

    private void add(Buffer bytes) {
        if (whole.future().isComplete()) {
            return;
        }
        if (read.length() + bytes.length() > limits.maxBody()) {
            stop();
            whole.tryFail(tooLarge(limits));
        } else {
            read.appendBuffer(bytes);
        }
    }

    private void refuse(Problem problem, String detail) {
        stop();
        whole.tryFail(new ProblemException(problem, detail));
    }
}
