package dev.hapax.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The upstream of the demo does what it is told, as often as it is told. */
class PaymentsApiTest {
    private static final String CHARGE = "{\"amount\":7998,\"currency\":\"usd\",\"customer\":\"cus_123\"}";

    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir
    Path directory;

    private PaymentsApi api;

    @BeforeEach
    void start() throws IOException {
        api = PaymentsApi.start(0, directory.resolve("executed.jsonl"));
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void everyChargeIsExecutedAndListedInOrder() throws Exception {
        HttpResponse<String> first = post("/v1/charges", CHARGE);
        post("/v1/charges", CHARGE.replace("7998", "1"));

        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.body())
                .isEqualTo("{\"id\":\"ch_1\",\"amount\":7998,\"currency\":\"usd\",\"customer\":\"cus_123\","
                        + "\"status\":\"succeeded\"}\n");
        assertThat(get("/v1/charges").body()).containsSubsequence("[", "ch_1", "7998", "ch_2", "\"amount\":1,", "]\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /v1/transfers           | {"transfer":{"client_reference":"r"}} | tr_1 | /v1/transfers
                    /v1/webhooks            | {"delivery_id":"d"}                   | wh_1 | /v1/webhooks
                    /v1/signups             | {"email":"a@b.example"}               | su_1 | /v1/signups
                    /v1/orders/o-77/invoice | {}                                    | in_1 | /v1/invoices
                    /v1/slow-charges        | {"amount":5}                          | sc_1 | /v1/slow-charges
                    /v1/notes               | {"text":"hello"}                      | nt_1 | /v1/notes
                    """)
    void everythingElseIsExecutedAndListedToo(String path, String body, String id, String list) throws Exception {
        HttpResponse<String> made = post(path, body, "Demo-Delay-Ms", "0");

        assertThat(made.statusCode()).isEqualTo(201);
        assertThat(made.body()).contains("\"id\":\"" + id + "\"");
        assertThat(get(list).body()).contains(id);
        assertThat(get("/v1/charges").body()).isEqualTo("[]\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /v1/charges   | {              | 400 | the body is not JSON
                    /v1/charges   | []             | 400 | a JSON object is needed
                    /v1/charges   | ''             | 400 | a JSON object is needed
                    /v1/charges   | {"currency":1} | 400 | amount is missing
                    /v1/charges   | {"amount":0}   | 400 | a whole number of cents
                    /v1/charges   | {"amount":1.5} | 400 | a whole number of cents
                    /v1/charges   | {"amount":99999999999999999999} | 400 | a whole number of cents
                    /v1/webhooks  | {}             | 400 | delivery_id is missing
                    /v1/nothing   | {}             | 404 | there is nothing here
                    /             | {}             | 404 | there is nothing here
                    """)
    void whatMakesNoSenseIsRefusedAndNotExecuted(String path, String body, int status, String why) throws Exception {
        HttpResponse<String> refused = post(path, body);

        assertThat(refused.statusCode()).isEqualTo(status);
        assertThat(refused.body()).startsWith("{\"error\":").contains(why);
        assertThat(get("/v1/charges").body()).isEqualTo("[]\n");
    }

    @Test
    void aStatusThatIsAskedForIsAnsweredAndIsAFailureThatWasExecuted() throws Exception {
        HttpResponse<String> failed = post("/v1/charges", CHARGE, "Demo-Status", "500");

        assertThat(failed.statusCode()).isEqualTo(500);
        assertThat(get("/v1/charges").body()).contains("\"status\":\"failed\"");
    }

    @Test
    void aStatusThatMeansNotDoneIsNotExecuted() throws Exception {
        assertThat(post("/v1/charges", CHARGE, "Demo-Status", "503").statusCode())
                .isEqualTo(503);
        assertThat(post("/v1/charges", CHARGE, "Demo-Status", "429").statusCode())
                .isEqualTo(429);
        assertThat(get("/v1/charges").body()).isEqualTo("[]\n");
    }

    @Test
    void aHangUpComesAfterTheCharge() throws Exception {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> post("/v1/charges", CHARGE, "Demo-Hangup", "true"));
        assertThat(get("/v1/charges").body()).contains("ch_1");
    }

    @Test
    void aDelayIsWaitedForBeforeTheCharge() throws Exception {
        var slow = client.sendAsync(
                request("/v1/charges", CHARGE, "Demo-Delay-Ms", "60000"), HttpResponse.BodyHandlers.ofString());

        assertThat(post("/v1/charges", CHARGE).body()).contains("ch_1");
        assertThat(slow).isNotDone();
    }

    @Test
    void headersThatMakeNoSenseAreRefused() throws Exception {
        assertThat(post("/v1/charges", CHARGE, "Demo-Status", "99").body()).contains("Demo-Status is a number");
        assertThat(post("/v1/charges", CHARGE, "Demo-Delay-Ms", "soon").body()).contains("Demo-Delay-Ms is a number");
    }

    @Test
    void aRestartForgetsNothingNotEvenAfterAKill() throws Exception {
        post("/v1/charges", CHARGE);
        post("/v1/notes", "{}");
        api.close();
        Files.writeString(directory.resolve("executed.jsonl"), "{\"kind\":\"char", StandardOpenOption.APPEND);

        start();

        assertThat(post("/v1/charges", CHARGE).body()).contains("ch_2");
        assertThat(get("/v1/charges").body()).contains("ch_1", "ch_2");
        assertThat(Files.readString(directory.resolve("executed.jsonl")).lines())
                .hasSize(3);
    }

    private HttpResponse<String> get(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String path, String body, String... headers) throws Exception {
        return client.send(request(path, body, headers), HttpResponse.BodyHandlers.ofString());
    }

    private HttpRequest request(String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).POST(HttpRequest.BodyPublishers.ofString(body));
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + api.port() + path);
    }
}
