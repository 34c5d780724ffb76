package dev.hapax.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** Sends requests to the subject over one version of HTTP, and insists on that version. Thread-safe. */
public final class Probe {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final HttpSubject subject;
    private final Version version;
    private final HttpClient client;

    private Probe(HttpSubject subject, Version version, HttpClient client) {
        this.subject = subject;
        this.version = version;
        this.client = client;
        upgrade();
    }

    /** With the client that tests share. */
    public static Probe shared(HttpSubject subject, Version version) {
        return new Probe(subject, version, subject.client(version));
    }

    /** With a client, and so a connection, of its own. */
    public static Probe fresh(HttpSubject subject, Version version) {
        return new Probe(subject, version, subject.newClient(version));
    }

    /** Not every server upgrades a request that has a body, so one without goes first. */
    private void upgrade() {
        get("/upgrade").exchange();
    }

    /** A POST of some JSON with a key and a tag that nobody has used: {@link Request#send} it as often as you like. */
    public Request post(String path) {
        String name = UUID.randomUUID().toString();
        return request("POST", path)
                .header("Idempotency-Key", '"' + name + '"')
                .header("App-Tag", name)
                .json("{\"amount\": 7998, \"currency\": \"usd\"}");
    }

    /** A POST without a key in its header. */
    public Request keyless(String path) {
        return post(path).without("Idempotency-Key");
    }

    public Request get(String path) {
        return request("GET", path);
    }

    public Request request(String method, String path) {
        return new Request(this, method, path, List.of(), new byte[0]);
    }

    HttpSubject subject() {
        return subject;
    }

    /** A request that can be sent again and again. Immutable. */
    @SuppressWarnings("ArrayRecordComponent")
    public record Request(
            Probe probe, String method, String path, List<Map.Entry<String, String>> headers, byte[] body) {
        public Request {
            headers = List.copyOf(headers);
        }

        /** The same request over another connection. */
        public Request through(Probe other) {
            return new Request(other, method, path, headers, body);
        }

        public Request method(String changed) {
            return new Request(probe, changed, path, headers, body);
        }

        public Request path(String changed) {
            return new Request(probe, method, changed, headers, body);
        }

        /** With one more header. */
        public Request header(String name, String value) {
            List<Map.Entry<String, String>> more = new ArrayList<>(headers);
            more.add(Map.entry(name, value));
            return new Request(probe, method, path, more, body);
        }

        public Request without(String name) {
            List<Map.Entry<String, String>> fewer = headers.stream()
                    .filter(header -> !header.getKey().equalsIgnoreCase(name))
                    .toList();
            return new Request(probe, method, path, fewer, body);
        }

        /** With this key, exactly as it is written here. */
        public Request key(String raw) {
            return without("Idempotency-Key").header("Idempotency-Key", raw);
        }

        public Request json(String text) {
            return body("application/json", text.getBytes(StandardCharsets.UTF_8));
        }

        public Request body(String type, byte[] bytes) {
            Request typed = without("Content-Type");
            return new Request(probe, method, path, typed.headers, bytes).header("Content-Type", type);
        }

        public String tag() {
            return headers.stream()
                    .filter(header -> header.getKey().equals("App-Tag"))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("");
        }

        /** How often the application really did this. */
        public int runs() {
            return probe.subject.application().executions(tag()).size();
        }

        public Hold hold() {
            return probe.subject.application().hold(tag());
        }

        public Answer send() {
            HttpResponse<byte[]> response = exchange();
            assertThat(response.version()).isEqualTo(probe.version);
            return answer(response);
        }

        /** Comes back for as long as the operation is in progress. */
        public Answer sendUntilReplayed() {
            return await().atMost(PATIENCE).until(this::send, Answer::replayed);
        }

        private HttpResponse<byte[]> exchange() {
            try {
                return probe.client.send(built(), BodyHandlers.ofByteArray());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(interrupted);
            }
        }

        public CompletableFuture<Answer> sendAsync() {
            return begin().thenApply(Request::answer);
        }

        /** Cancelling this hangs up. */
        public CompletableFuture<HttpResponse<byte[]>> begin() {
            return probe.client.sendAsync(built(), BodyHandlers.ofByteArray());
        }

        private HttpRequest built() {
            URI uri = URI.create(probe.subject.base(probe.version) + path);
            HttpRequest.Builder builder = HttpRequest.newBuilder(uri)
                    .timeout(PATIENCE)
                    .method(method, body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
            headers.forEach(header -> builder.header(header.getKey(), header.getValue()));
            return builder.build();
        }

        private static Answer answer(HttpResponse<byte[]> response) {
            return new Answer(response.statusCode(), response.headers(), response.body());
        }
    }
}
