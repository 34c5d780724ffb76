package dev.hapax.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.config.ConfigurationSources;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A configuration becomes a gateway that does what it says. */
class RunningGatewayTest {
    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger executed = new AtomicInteger();
    private HttpServer upstream;

    @TempDir
    Path directory;

    @BeforeEach
    void startUpstream() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            byte[] body = ("run " + executed.incrementAndGet()).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(201, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        upstream.start();
    }

    @AfterEach
    void stopUpstream() {
        upstream.stop(0);
    }

    @Test
    void aProtectedRouteRunsOnceAndOthersEachTime() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start();
                RunningGateway gateway = start(server.jdbcUrl())) {
            assertThat(post(gateway, "/v1/charges").body()).isEqualTo("run 1");
            HttpResponse<String> again = post(gateway, "/v1/charges");
            assertThat(again.body()).isEqualTo("run 1");
            assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
            assertThat(post(gateway, "/v1/notes").body()).isEqualTo("run 2");
            assertThat(post(gateway, "/v1/notes").body()).isEqualTo("run 3");
        }
    }

    @Test
    void anEmbeddedStoreRemembersAfterARestart() throws Exception {
        int port;
        try (RunningGateway first = start("embedded")) {
            port = first.port();
            assertThat(post(first, "/v1/charges").body()).isEqualTo("run 1");
        }
        assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> post(port, "/v1/charges"));
        try (RunningGateway second = start("embedded")) {
            assertThat(post(second, "/v1/charges").body()).isEqualTo("run 1");
        }
        assertThat(executed).hasValue(1);
    }

    @Test
    void theDataOfAnotherGatewayIsNotTouched() {
        try (RunningGateway first = start("embedded")) {
            assertThat(first.port()).isPositive();
            assertThatExceptionOfType(StartException.class)
                    .isThrownBy(() -> start("embedded"))
                    .withMessageContaining("another gateway or demo already uses the data in");
        }
    }

    @Test
    void theScreenSaysWhereEverythingIs() {
        StringWriter text = new StringWriter();
        try (EmbeddedPostgres server = EmbeddedPostgres.start();
                RunningGateway gateway = start(server.jdbcUrl())) {
            new Screen(new PrintWriter(text, true), Map.of())
                    .facts(StartScreen.of(configuration(server.jdbcUrl()), gateway));

            assertThat(text.toString())
                    .contains("listening  http://127.0.0.1:" + gateway.port())
                    .contains(
                            "admin      http://127.0.0.1:" + gateway.adminPort().orElseThrow() + "  /health/live")
                    .contains("upstream   http://127.0.0.1:"
                            + upstream.getAddress().getPort())
                    .contains("store      jdbc:postgresql://127.0.0.1:" + server.port())
                    .contains("tenant     authorization")
                    .contains("routes     POST /v1/charges  payments  header Idempotency-Key  1d  wait 2s")
                    .doesNotContain(server.password(), "\u001B[");
        }
    }

    private RunningGateway start(String store) {
        return RunningGateway.start(
                configuration(store),
                Duration.ofSeconds(20),
                new Progress(new PrintWriter(System.err, true, StandardCharsets.UTF_8)));
    }

    private Configuration configuration(String store) {
        return new ConfigurationSources()
                .text("hapax.yaml", """
                        listen: 127.0.0.1:0
                        admin: 0
                        upstream: http://127.0.0.1:%d
                        store: {url: "%s", data: "%s"}
                        routes:
                          - {match: POST /v1/charges, scope: payments, when-in-flight: wait 2s}
                        """.formatted(
                                upstream.getAddress().getPort(), store, directory.resolve("postgres")))
                .read()
                .configuration();
    }

    private HttpResponse<String> post(RunningGateway gateway, String path) throws Exception {
        return post(gateway.port(), path);
    }

    private HttpResponse<String> post(int port, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Idempotency-Key", "\"k-1\"")
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
