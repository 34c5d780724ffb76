package dev.hapax.bench.micro;

import dev.hapax.http.Headers;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.HttpRequest;
import dev.hapax.http.JsonPointer;
import dev.hapax.http.KeySource;
import dev.hapax.http.Match;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Making an operation of an HTTP request. Public because JMH's own code extends it. */
@State(Scope.Thread)
public class HttpCosts {
    private static final String KEY = "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"";

    private final KeySource header = KeySource.Header.DEFAULT;
    private final KeySource member = new KeySource.PayloadField(JsonPointer.of("/customer"));
    private final KeySource bodyHash =
            new KeySource.BodyHash(List.of(), KeySource.BodyHash.DEFAULT_INTENT_HEADER, new byte[0]);
    private final Match match = new Match(
            new Route("POST", PathPattern.of("/v1/charges"), "payments", header, HttpPolicy.defaults()),
            "/v1/charges",
            Map.of());
    private final HttpRequest small = request(300);
    private final HttpRequest large = request(1_024);

    private static HttpRequest request(int length) {
        Headers headers = Headers.of(
                "Host", "api.example.com",
                "User-Agent", "client/1.0",
                "Accept", "application/json",
                "Authorization", "Bearer 0123456789abcdef",
                "Content-Type", "application/json",
                "Content-Length", Integer.toString(length),
                "Idempotency-Key", KEY);
        return new HttpRequest("POST", "/v1/charges", "", headers, Samples.bytes(length), null);
    }

    @Benchmark
    public Optional<String> keyHeader() {
        return header.keyOf(small, match);
    }

    /** Canonical JSON, and one member read from it. */
    @Benchmark
    public Optional<String> canonicalJson() {
        return member.keyOf(large, match);
    }

    /** Method, path, query and canonical JSON in one digest: what a request's fingerprint is made of. */
    @Benchmark
    public Optional<String> requestDigest() {
        return bodyHash.keyOf(small, match);
    }
}
