package dev.hapax.messaging.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class WebhookPublisherTest {
    private static final String SECRET = secret('a');
    private static final String OLD_SECRET = secret('b');
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Instant NOW = Instant.parse("2026-11-15T12:00:00Z");

    private record Request(Headers headers, String body) {}

    private interface Answer {
        void give(HttpExchange exchange) throws IOException;
    }

    private final List<Request> requests = Collections.synchronizedList(new ArrayList<>());
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;
    private volatile Answer answer = exchange -> exchange.sendResponseHeaders(204, -1);

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/hooks", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            requests.add(new Request(exchange.getRequestHeaders(), body));
            answer.give(exchange);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.shutdownNow();
    }

    @Test
    void webhookHasIdTimestampAndSignaturePerSecret() throws Exception {
        OutboxMessage message = OutboxMessage.to("orders", "{\"a\": 1}".getBytes(StandardCharsets.UTF_8))
                .header("type", "OrderPlaced");

        assertThat(publish(message)).isEqualTo(PublishResult.published());

        Request request = requests.get(0);
        assertThat(request.body()).isEqualTo("{\"a\": 1}");
        assertThat(header(request, "webhook-id")).isEqualTo(message.id().toString());
        assertThat(header(request, "webhook-timestamp")).isEqualTo(Long.toString(NOW.getEpochSecond()));
        assertThat(header(request, "webhook-signature"))
                .isEqualTo("v1," + expected(message, SECRET) + " v1," + expected(message, OLD_SECRET));
        assertThat(header(request, "type")).isEqualTo("OrderPlaced");
        assertThat(header(request, "content-type")).isEqualTo("application/json");
    }

    /** The example of the specification's own libraries. */
    @Test
    void signatureIsTheOneOfTheSpecification() {
        String signature = Signature.of(
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1614265330,
                "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8),
                List.of(WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")));

        assertThat(signature).isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    @Test
    void everyAttemptHasTheSameId() {
        OutboxMessage message = message();

        publish(message);
        publish(message);

        assertThat(requests)
                .extracting(it -> header(it, "webhook-id"))
                .containsOnly(message.id().toString());
    }

    @Test
    void messageMaySetContentType() {
        publish(message().header("Content-Type", "text/plain"));

        assertThat(requests.get(0).headers().get("content-type")).containsExactly("text/plain");
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 202, 204, 299})
    void everyTwoHundredIsPublished(int status) {
        answer = exchange -> exchange.sendResponseHeaders(status, -1);

        assertThat(publish(message())).isEqualTo(PublishResult.published());
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 403, 404, 410, 413, 422})
    void permanentStatusIsRefused(int status) {
        answer = exchange -> exchange.sendResponseHeaders(status, -1);

        assertThat(publish(message())).isEqualTo(PublishResult.refused("HTTP " + status));
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 425, 429, 500, 502, 503, 504})
    void temporaryStatusFails(int status) {
        answer = exchange -> exchange.sendResponseHeaders(status, -1);

        assertThat(publish(message())).isEqualTo(new PublishResult.Failed("HTTP " + status, null));
    }

    @Test
    void redirectsAreNotFollowed() {
        answer = exchange -> {
            exchange.getResponseHeaders().add("Location", "/hooks/elsewhere");
            exchange.sendResponseHeaders(307, -1);
        };

        assertThat(publish(message())).isEqualTo(PublishResult.failed("HTTP 307"));
        assertThat(requests).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"120", "Sun, 15 Nov 2026 12:02:00 GMT"})
    void retryAfterIsRead(String value) {
        assertThat(retryAfter(value)).isEqualTo(Duration.ofMinutes(2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "-1", "1.5", "99999999999999999999", ""})
    void unreadableRetryAfterIsIgnored(String value) {
        assertThat(retryAfter(value)).isNull();
    }

    @Test
    void pastRetryAfterMeansNow() {
        assertThat(retryAfter("Sun, 15 Nov 2026 11:00:00 GMT")).isEqualTo(Duration.ZERO);
    }

    @Test
    void missingAnswerFails() {
        CountDownLatch stopped = new CountDownLatch(1);
        answer = exchange -> awaitQuietly(stopped);
        try {
            assertThat(send(publisher().timeout(Duration.ofMillis(300)).build(), message()))
                    .isEqualTo(PublishResult.failed("no answer within PT0.3S"));
        } finally {
            stopped.countDown();
        }
    }

    @Test
    void statusCountsThoughBodyNeverEnds() {
        CountDownLatch stopped = new CountDownLatch(1);
        answer = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(new byte[1_000]);
            exchange.getResponseBody().flush();
            awaitQuietly(stopped);
        };
        try {
            assertThat(publish(message())).isEqualTo(PublishResult.published());
        } finally {
            stopped.countDown();
        }
    }

    @Test
    void refusedConnectionFails() {
        int port = server.getAddress().getPort();
        server.stop(0);
        WebhookEndpoint gone = WebhookEndpoint.of("http://127.0.0.1:" + port + "/hooks", SECRET);

        PublishResult result = send(WebhookPublisher.to(Map.of("orders", gone)), message());

        assertThat(result)
                .isInstanceOfSatisfying(
                        PublishResult.Failed.class,
                        failed -> assertThat(failed.reason()).contains("ConnectException"));
    }

    @Test
    void topicWithoutEndpointIsRefused() {
        assertThat(send(publisher().build(), OutboxMessage.to("mails", new byte[0])))
                .isEqualTo(PublishResult.refused("no endpoint for the topic mails"));
        assertThat(requests).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"webhook-id", "Webhook-Signature", "Host", "content-length"})
    void reservedHeaderIsRefused(String name) {
        assertThat(publish(message().header(name, "1"))).isInstanceOf(PublishResult.Refused.class);
        assertThat(requests).isEmpty();
    }

    @Test
    void requestsOfOneBatchAreConcurrent() {
        CountDownLatch all = new CountDownLatch(20);
        answer = exchange -> {
            all.countDown();
            awaitQuietly(all);
            exchange.sendResponseHeaders(200, -1);
        };
        List<Outgoing> messages = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            messages.add(new Outgoing(message(), NOW, 1, TIMEOUT));
        }

        assertThat(publisher().build().publish(messages))
                .allSatisfy(it -> assertThat(result(it)).isEqualTo(PublishResult.published()));
    }

    @Test
    void failedLookupFailsOnlyItsOwnMessage() {
        WebhookEndpoint endpoint =
                WebhookEndpoint.of("http://127.0.0.1:" + server.getAddress().getPort() + "/hooks", SECRET);
        WebhookPublisher publisher = WebhookPublisher.builder(message -> switch (message.topic()) {
                    case "orders" -> endpoint;
                    case "error" -> throw new AssertionError("an Error, not an exception");
                    default -> throw new IllegalStateException("the table of endpoints is away");
                })
                .build();
        List<Outgoing> messages = List.of("orders", "broken", "error", "orders").stream()
                .map(topic -> new Outgoing(OutboxMessage.to(topic, new byte[0]), NOW, 1, TIMEOUT))
                .toList();

        List<PublishResult> results = publisher.publish(messages).stream()
                .map(WebhookPublisherTest::result)
                .toList();

        assertThat(results.get(0)).isEqualTo(PublishResult.published());
        assertThat(results.subList(1, 3)).allSatisfy(it -> assertThat(it).isInstanceOf(PublishResult.Failed.class));
        assertThat(results.get(3)).isEqualTo(PublishResult.published());
    }

    @Test
    void clientThatFollowsRedirectsIsRefused() {
        HttpClient client = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .build();

        assertThatIllegalArgumentException().isThrownBy(() -> publisher().client(client));
    }

    @Test
    void secretsAreCheckedAndNeverPrinted() {
        String inside = SECRET.substring("whsec_".length());

        assertThat(WebhookSecret.parse(SECRET).toString()).doesNotContain(inside);
        assertThat(WebhookEndpoint.of("https://example.com", SECRET).toString()).doesNotContain(inside);
        for (String wrong :
                List.of(inside, "whsec_", "whsec_short", "whsec_" + inside + "!", "whsec_" + inside.repeat(4))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> WebhookSecret.parse(wrong))
                    .satisfies(e -> assertThat(e.toString()).doesNotContain(inside))
                    .withNoCause();
        }
        assertThatIllegalArgumentException().isThrownBy(() -> WebhookEndpoint.of("https://example.com"));
        assertThatIllegalArgumentException().isThrownBy(() -> WebhookEndpoint.of("file:///etc/passwd", SECRET));
        assertThatIllegalArgumentException().isThrownBy(() -> WebhookEndpoint.of("/hooks", SECRET));
    }

    private Duration retryAfter(String value) {
        answer = exchange -> {
            exchange.getResponseHeaders().add("Retry-After", value);
            exchange.sendResponseHeaders(429, -1);
        };
        return ((PublishResult.Failed) publish(message())).retryAfter();
    }

    private WebhookPublisher.Builder publisher() {
        WebhookEndpoint endpoint =
                WebhookEndpoint.of("http://127.0.0.1:" + server.getAddress().getPort() + "/hooks", SECRET, OLD_SECRET);
        return WebhookPublisher.builder(message -> message.topic().equals("orders") ? endpoint : null)
                .clock(Clock.fixed(NOW, ZoneOffset.UTC));
    }

    private PublishResult publish(OutboxMessage message) {
        return send(publisher().build(), message);
    }

    private static PublishResult send(WebhookPublisher publisher, OutboxMessage message) {
        return result(publisher
                .publish(List.of(new Outgoing(message, NOW, 1, TIMEOUT)))
                .get(0));
    }

    private static PublishResult result(CompletionStage<PublishResult> stage) {
        try {
            return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static OutboxMessage message() {
        return OutboxMessage.to("orders", "{}".getBytes(StandardCharsets.UTF_8));
    }

    private static String header(Request request, String name) {
        return Objects.requireNonNull(request.headers().getFirst(name));
    }

    /** Computed here anew, from the specification. */
    private static String expected(OutboxMessage message, String secret) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring(6)), "HmacSHA256"));
        String signed =
                message.id() + "." + NOW.getEpochSecond() + "." + new String(message.body(), StandardCharsets.UTF_8);
        return Base64.getEncoder().encodeToString(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
    }

    private static String secret(char letter) {
        return "whsec_"
                + Base64.getEncoder()
                        .encodeToString(String.valueOf(letter).repeat(32).getBytes(StandardCharsets.US_ASCII));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
