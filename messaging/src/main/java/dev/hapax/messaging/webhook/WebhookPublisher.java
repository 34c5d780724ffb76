package dev.hapax.messaging.webhook;

import dev.hapax.messaging.internal.CompletionErrors;
import dev.hapax.outbox.OutboxMessage;
import dev.hapax.outbox.Outgoing;
import dev.hapax.outbox.PublishResult;
import dev.hapax.outbox.Publisher;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.net.http.HttpTimeoutException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Publishes an outbox as webhooks, in the form of <a href="https://www.standardwebhooks.com">Standard Webhooks</a>: a
 * POST of the body with {@code webhook-id} (the message's id, the same on every attempt), {@code webhook-timestamp} (of
 * the attempt) and {@code webhook-signature}. Safe for use by many threads.
 *
 * <pre>{@code
 * WebhookPublisher.to(Map.of("orders", WebhookEndpoint.of("https://example.com/hooks", secret)))
 * }</pre>
 *
 * <p>The message's headers are sent along; {@code content-type} is JSON unless they say otherwise.
 *
 * <table><caption>What an answer means</caption>
 * <tr><td>2xx</td><td>published</td></tr>
 * <tr><td>408, 425, 429, 5xx, and redirects, which are not followed</td><td>failed; {@code Retry-After} is heeded</td></tr>
 * <tr><td>any other 4xx, 410 among them, and a topic without an endpoint</td><td>refused</td></tr>
 * <tr><td>no connection, no answer in time, an endpoint that could not be looked up</td><td>failed</td></tr>
 * </table>
 *
 * <p>If your customers choose the URLs, use a {@link Builder#client} with a proxy that keeps requests out of your own
 * network.
 */
public final class WebhookPublisher implements Publisher {
    private static final Set<Integer> RETRYABLE = Set.of(408, 425, 429);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    private final Function<OutboxMessage, @Nullable WebhookEndpoint> endpoints;
    private final HttpClient client;
    private final Duration timeout;
    private final Clock clock;

    private WebhookPublisher(Builder builder) {
        endpoints = builder.endpoints;
        client = builder.client == null
                ? HttpClient.newBuilder().connectTimeout(CONNECT_TIMEOUT).build()
                : builder.client;
        timeout = builder.timeout;
        clock = builder.clock;
    }

    /** Publishes to one endpoint for each topic. */
    public static WebhookPublisher to(Map<String, WebhookEndpoint> endpoints) {
        Map<String, WebhookEndpoint> copy = Map.copyOf(endpoints);
        return builder(message -> copy.get(message.topic())).build();
    }

    /**
     * @param endpoints the endpoint of a message; {@code null} means that it is refused, an exception that it has
     *     failed. Called on the relay's one thread, so it must not block: keep endpoints in memory, and refresh them on
     *     a thread of your own
     */
    public static Builder builder(Function<OutboxMessage, @Nullable WebhookEndpoint> endpoints) {
        return new Builder(endpoints);
    }

    @Override
    public List<CompletionStage<PublishResult>> publish(List<Outgoing> messages) {
        return messages.stream().map(this::publish).toList();
    }

    /** Whatever one message throws, its neighbours must not fail with it. */
    private CompletionStage<PublishResult> publish(Outgoing outgoing) {
        try {
            return publish(outgoing.message(), atMost(outgoing.timeout()));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.completedStage(PublishResult.failed(e));
        }
    }

    private Duration atMost(Duration relayTimeout) {
        return timeout.compareTo(relayTimeout) <= 0 ? timeout : relayTimeout;
    }

    private CompletionStage<PublishResult> publish(OutboxMessage message, Duration timeout) {
        WebhookEndpoint endpoint = endpoints.apply(message);
        if (endpoint == null) {
            return CompletableFuture.completedStage(
                    PublishResult.refused("no endpoint for the topic " + message.topic()));
        }
        HttpRequest request;
        try {
            request = request(message, endpoint, timeout);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.completedStage(
                    PublishResult.refused("cannot be sent as a request: " + e.getMessage()));
        }
        return send(request, timeout);
    }

    private HttpRequest request(OutboxMessage message, WebhookEndpoint endpoint, Duration timeout) {
        String id = message.id().toString();
        long timestamp = clock.instant().getEpochSecond();
        HttpRequest.Builder request = HttpRequest.newBuilder(endpoint.url())
                .timeout(timeout)
                .POST(HttpRequest.BodyPublishers.ofByteArray(message.body()))
                .setHeader("content-type", "application/json");
        message.headers().forEach((name, value) -> {
            if (name.toLowerCase(Locale.ROOT).startsWith("webhook-")) {
                throw new IllegalArgumentException("the header " + name + " is the webhook's own");
            }
            request.setHeader(name, value);
        });
        return request.setHeader("webhook-id", id)
                .setHeader("webhook-timestamp", Long.toString(timestamp))
                .setHeader("webhook-signature", Signature.of(id, timestamp, message.body(), endpoint.secrets()))
                .build();
    }

    /** The status decides, and comes first: a body that never ends changes nothing, and is cut off. */
    private CompletionStage<PublishResult> send(HttpRequest request, Duration timeout) {
        CompletableFuture<PublishResult> result = new CompletableFuture<>();
        BodyHandler<Void> statusOnly = info -> {
            result.complete(resultOf(info));
            return BodySubscribers.discarding();
        };
        CompletableFuture<?> exchange = client.sendAsync(request, statusOnly);
        exchange.whenComplete((response, error) -> {
            if (error != null) {
                result.complete(failure(error, timeout)); // does nothing if the status was known
            }
        });
        // The client's own timeout ends with the status; this one is for the rest. It ends with the exchange, or it
        // would keep the request and its body in memory until then.
        CompletableFuture<Void> timer =
                new CompletableFuture<Void>().completeOnTimeout(null, timeout.toMillis(), TimeUnit.MILLISECONDS);
        timer.thenRun(() -> {
            result.complete(PublishResult.failed("no answer within " + timeout));
            exchange.cancel(true);
        });
        exchange.whenComplete((response, error) -> timer.cancel(false));
        return result;
    }

    private PublishResult resultOf(ResponseInfo info) {
        int status = info.statusCode();
        if (status >= 200 && status < 300) {
            return PublishResult.published();
        }
        String reason = "HTTP " + status;
        if (status >= 400 && status < 500 && !RETRYABLE.contains(status)) {
            return PublishResult.refused(reason);
        }
        Instant now = clock.instant();
        return new PublishResult.Failed(reason, RetryAfter.read(info.headers(), now));
    }

    private static PublishResult failure(Throwable error, Duration timeout) {
        Throwable cause = CompletionErrors.cause(error);
        return cause instanceof HttpTimeoutException && !(cause instanceof HttpConnectTimeoutException)
                ? PublishResult.failed("no answer within " + timeout)
                : PublishResult.failed(cause);
    }

    /** Collects the settings of a publisher. Not safe for use by many threads. */
    public static final class Builder {
        private final Function<OutboxMessage, @Nullable WebhookEndpoint> endpoints;
        private @Nullable HttpClient client;
        private Duration timeout = Duration.ofSeconds(8);
        private Clock clock = Clock.systemUTC();

        private Builder(Function<OutboxMessage, @Nullable WebhookEndpoint> endpoints) {
            this.endpoints = Objects.requireNonNull(endpoints, "endpoints");
        }

        /**
         * How long one attempt may take, at most {@link Outgoing#timeout()}. Default: 8 s, below the relay's
         * {@code publishTimeout}, so that the reason of the failure is known.
         */
        public Builder timeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero()) {
                throw new IllegalArgumentException("the timeout is " + timeout + "; it must be positive");
            }
            this.timeout = timeout;
            return this;
        }

        /** @throws IllegalArgumentException if it follows redirects: a signed body must reach its endpoint only */
        public Builder client(HttpClient client) {
            if (client.followRedirects() != HttpClient.Redirect.NEVER) {
                throw new IllegalArgumentException("the client follows redirects; a webhook must not");
            }
            this.client = client;
            return this;
        }

        /** The clock for {@code webhook-timestamp}. Default: the system's. */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        public WebhookPublisher build() {
            return new WebhookPublisher(this);
        }
    }
}
