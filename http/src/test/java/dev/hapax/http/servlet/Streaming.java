package dev.hapax.http.servlet;

import dev.hapax.testkit.http.Probe.Request;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;

/** Requests whose answers are read as they come. */
final class Streaming {
    private Streaming() {}

    /** Completes when the head of the answer has arrived. */
    static CompletableFuture<HttpResponse<InputStream>> open(Lab lab, Version version, Request request)
            throws Exception {
        URI base = lab.base(version);
        HttpClient client = HttpClient.newBuilder().version(version).build();
        client.send(HttpRequest.newBuilder(base.resolve("/upgrade")).build(), BodyHandlers.discarding());
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(base.resolve(request.path())).POST(BodyPublishers.ofByteArray(request.body()));
        request.headers().forEach(header -> builder.header(header.getKey(), header.getValue()));
        return client.sendAsync(builder.build(), BodyHandlers.ofInputStream());
    }
}
