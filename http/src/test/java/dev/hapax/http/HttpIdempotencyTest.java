package dev.hapax.http;

import static dev.hapax.http.Api.keyed;
import static dev.hapax.http.Api.text;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class HttpIdempotencyTest {
    private final Api api = Api.defaults();

    @AfterEach
    void close() {
        api.close();
    }

    @Test
    void retryGetsTheStoredResponse() {
        HttpResponse first =
                api.send(keyed("k"), run -> Api.created("one", "Location", "/v1/charges/1", "X-Trace", "t"));
        HttpResponse retry = api.send(keyed("\"k\""));
        assertThat(first.headers().first("X-Trace")).contains("t");
        assertThat(text(retry)).isEqualTo("one");
        assertThat(retry.status()).isEqualTo(201);
        assertThat(retry.headers().first("Location")).contains("/v1/charges/1");
        assertThat(retry.headers().first("Idempotent-Replayed")).contains("true");
        assertThat(retry.headers().contains("X-Trace")).isFalse();
        assertThat(retry.headers().first("Hapax-Operation-Id"))
                .isPresent()
                .isEqualTo(first.headers().first("Hapax-Operation-Id"));
        assertThat(api.runs).hasValue(1);
        HttpResponse status = api.look("/.hapax/operations/"
                + first.headers().first("Hapax-Operation-Id").orElseThrow());
        assertThat(text(status)).contains("\"body\":\"one\"");
        assertThat(text(api.send(Api.request("other", "Idempotency-Key", "k")))).contains("key-reused");
        assertThat(text(api.send(Api.request("other")))).contains("key-missing");
    }
}
