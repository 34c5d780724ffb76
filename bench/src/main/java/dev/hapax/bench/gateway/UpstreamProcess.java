package dev.hapax.bench.gateway;

import dev.hapax.bench.process.ChildJvm;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;

/** A service that answers every POST with the same 300 bytes. Prints its port. */
final class UpstreamProcess {
    private static final Buffer ANSWER = Buffer.buffer(Samples.json(300));

    private UpstreamProcess() {}

    public static void main(String[] args) {
        ChildJvm.endWithParent();
        int port = Vertx.vertx()
                .createHttpServer()
                .requestHandler(request -> request.endHandler(end -> answer(request)))
                .listen(0, "127.0.0.1")
                .await()
                .actualPort();
        System.out.println(port);
    }

    private static void answer(HttpServerRequest request) {
        request.response()
                .setStatusCode(201)
                .putHeader("Content-Type", "application/json")
                .putHeader("Location", "/v1/charges/ch_3PqR5tUvWxYz0123")
                .end(ANSWER);
    }
}
