package dev.hapax.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./hapax demo} as a process: what it prints is true, and it comes and goes cleanly. */
class DemoIT {
    private static final String CHARGE = "{\"amount\":7998,\"currency\":\"usd\",\"customer\":\"cus_123\"}";

    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir
    Path directory;

    @Test
    void whatItSaysToTryAnswersAsItSays() throws Exception {
        try (Program demo = start("--port", "0")) {
            String url = demo.awaitPrinted("gateway +(http://localhost:\\d+)");
            String status = demo.awaitPrinted("curl (http://localhost:\\d+/.hapax/operations/[-0-9a-f]+)");
            demo.awaitPrinted("Ctrl-C stops everything");

            HttpResponse<String> first = charge(url, "order-1", CHARGE);
            HttpResponse<String> retry = charge(url, "order-1", CHARGE);
            assertThat(first.statusCode()).isEqualTo(201);
            assertThat(retry.statusCode()).isEqualTo(201);
            assertThat(retry.body()).isEqualTo(first.body()).contains("ch_1");
            assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
            assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");

            assertThat(charge(url, "order-1", CHARGE.replace("7998", "1")).statusCode())
                    .isEqualTo(422);
            assertThat(client.send(post(url, CHARGE).build(), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(400);

            CompletableFuture<HttpResponse<String>> one = chargeSlowly(url);
            CompletableFuture<HttpResponse<String>> other = chargeSlowly(url);
            assertThat(Stream.of(one, other).map(answer -> answer.join().statusCode()))
                    .containsExactlyInAnyOrder(201, 409);

            HttpResponse<String> doubt = charge(url, "order-3", CHARGE, "Demo-Hangup", "true");
            assertThat(doubt.statusCode()).isEqualTo(409);
            assertThat(doubt.body()).contains("in-doubt");
            assertThat(charge(url, "order-3", CHARGE).body()).contains("in-doubt");

            assertThat(get(url + "/v1/charges").body())
                    .contains("ch_1", "ch_2", "ch_3")
                    .doesNotContain("ch_4");
            assertThat(get(status).body()).contains("\"state\":\"completed\"", "ch_1");
            demo.signal("TERM");
            assertThat(demo.awaitExit()).isZero();
        }
    }

    @Test
    void startedAgainItStillAnswersEarlierKeysAndCtrlCLeavesNothingRunning() throws Exception {
        String body;
        try (Program first = start("--port", "0")) {
            String url = first.awaitPrinted("gateway +(http://localhost:\\d+)");
            first.awaitPrinted("Ctrl-C stops everything");
            body = charge(url, "order-1", CHARGE).body();
            long server = postmaster().orElseThrow();
            first.signal("INT");

            assertThat(first.awaitExit()).isZero();
            assertThat(first.printed()).contains("Stopped.").doesNotContain("\tat ", "Exception");
            await().until(() ->
                    ProcessHandle.of(server).filter(ProcessHandle::isAlive).isEmpty());
        }
        try (Program second = start("--port", "0")) {
            String url = second.awaitPrinted("gateway +(http://localhost:\\d+)");
            HttpResponse<String> replay = charge(url, "order-1", CHARGE);

            assertThat(replay.body()).isEqualTo(body);
            assertThat(replay.headers().firstValue("Idempotent-Replayed")).contains("true");
            assertThat(get(url + "/v1/charges").body()).contains("ch_1").doesNotContain("ch_2");
        }
        await().atMost(Duration.ofSeconds(60))
                .until(() -> postmaster()
                        .flatMap(ProcessHandle::of)
                        .filter(ProcessHandle::isAlive)
                        .isEmpty());
    }

    @Test
    void aSecondDemoOnTheSamePortSaysSoAndOnAnotherOneRunsBeside() throws Exception {
        try (Program first = start("--port", "0")) {
            String port = first.awaitPrinted("gateway +http://localhost:(\\d+)");
            try (Program second = start("--port", port)) {
                assertThat(second.awaitExit()).isEqualTo(1);
                assertThat(second.printed())
                        .startsWith("hapax: port " + port + " is in use, perhaps by another demo")
                        .contains("--port ")
                        .doesNotContain("\tat ");
            }
            try (Program third = start("--port", Integer.toString(freePort()))) {
                assertThat(third.awaitPrinted("data +([^,]+),")).contains("demo-");
            }
        }
    }

    @Test
    void flagsThatMakeNoSenseAreRefused() throws Exception {
        try (Program demo = start("--port", "65536")) {
            assertThat(demo.awaitExit()).isEqualTo(2);
            assertThat(demo.printed()).contains("--port is from 0 to 65535");
        }
    }

    private Program start(String... arguments) throws IOException, InterruptedException {
        String[] all = Stream.concat(Stream.of("--data", directory.toString()), Stream.of(arguments))
                .toArray(String[]::new);
        return Program.start(Demo.class, all);
    }

    /** The process id that PostgreSQL wrote down, if it runs or was killed. */
    private Optional<Long> postmaster() throws IOException {
        Path file = directory.resolve("demo/postgres/postmaster.pid");
        return Files.exists(file)
                ? Optional.of(Long.parseLong(Files.readAllLines(file).get(0).strip()))
                : Optional.empty();
    }

    private CompletableFuture<HttpResponse<String>> chargeSlowly(String url) {
        HttpRequest request = post(url, CHARGE)
                .header("Idempotency-Key", "\"order-2\"")
                .header("Demo-Delay-Ms", "3000")
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> charge(String url, String key, String body, String... headers) throws Exception {
        HttpRequest.Builder request = post(url, body).header("Idempotency-Key", "\"" + key + "\"");
        return client.send(
                (headers.length == 0 ? request : request.headers(headers)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String url) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest.Builder post(String url, String body) {
        return HttpRequest.newBuilder(URI.create(url + "/v1/charges")).POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
