package dev.hapax.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.http.Probe.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is kept of a response, and given again. */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
interface StoredTests extends HttpTests {

    @ParameterizedTest
    @ValueSource(
            ints = {200, 201, 202, 204, 206, 301, 303, 307, 400, 402, 404, 405, 406, 410, 412, 413, 415, 418, 422, 451})
    default void aStatusBelow500IsStored(int status) {
        Request charge = http().post("/contract/charges").header("App-Status", Integer.toString(status));
        Answer first = charge.send().assertRan(status);

        charge.send().assertReplays(first);

        assertThat(charge.runs()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403, 408, 409, 425, 429})
    default void aStatusThatSaysNothingRanIsNotStored(int status) {
        Request charge = http().post("/contract/charges");

        charge.header("App-Status", Integer.toString(status)).send().assertRan(status);
        charge.send().assertRan(201);

        assertThat(charge.runs()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 501, 502, 504, 507})
    default void aServerErrorIsStored(int status) {
        Request charge = http().post("/contract/charges").header("App-Status", Integer.toString(status));
        Answer first = charge.send().assertRan(status);

        charge.send().assertReplays(first);

        assertThat(charge.runs()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 502, 504})
    default void aServerErrorIsReleasedWhereThePolicySaysSo(int status) {
        Request charge = http().post("/contract/released");

        charge.header("App-Status", Integer.toString(status)).send().assertRan(status);
        charge.send().assertRan(201);

        assertThat(charge.runs()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/contract/charges", "/contract/released"})
    default void a503IsAlwaysReleased(String path) {
        Request charge = http().post(path);

        Answer refused = charge.header("App-Status", "503")
                .header("App-Header", "Retry-After=7")
                .send()
                .assertRan(503);
        assertThat(refused.header("Retry-After")).isEqualTo("7");
        charge.send().assertRan(201);

        assertThat(charge.runs()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"empty", "one-byte", "json", "gzip", "binary", "mebibyte", "chunked"})
    default void aReplayHasTheSameBytes(String body) {
        Request charge = http().post("/contract/charges").header("App-Body", body);
        Answer first = charge.send().assertRan(201);

        Answer replay = charge.send().assertReplays(first);

        assertThat(replay.all("Content-Type")).isEqualTo(first.all("Content-Type"));
        assertThat(replay.all("Content-Encoding")).isEqualTo(first.all("Content-Encoding"));
        assertThat(first.body().length)
                .isEqualTo(
                        switch (body) {
                            case "empty" -> 0;
                            case "one-byte" -> 1;
                            case "mebibyte" -> 1 << 20;
                            default -> first.body().length;
                        });
        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void anEmptyErrorIsReplayedEmpty() {
        Request charge =
                http().post("/contract/charges").header("App-Status", "404").header("App-Body", "empty");
        Answer first = charge.send().assertRan(404);

        charge.send().assertReplays(first);

        assertThat(first.body()).isEmpty();
    }

    @Test
    default void headersThatDescribeTheResponseAreReplayed() {
        Request charge = http().post("/contract/charges")
                .header("App-Header", "Location=/charges/7")
                .header("App-Header", "ETag=\"v1\"")
                .header("App-Header", "Content-Language=de")
                .header("App-Header", "Cache-Control=no-store");
        charge.send().assertRan(201);

        Answer replay = charge.send();

        assertThat(replay.replayed()).isTrue();
        assertThat(replay.header("Location")).isEqualTo("/charges/7");
        assertThat(replay.header("ETag")).isEqualTo("\"v1\"");
        assertThat(replay.header("Content-Language")).isEqualTo("de");
        assertThat(replay.header("Cache-Control")).isEqualTo("no-store");
    }

    @Test
    default void headersThatBelongToOneCallerOrOneConnectionAreNotReplayed() {
        Request charge = http().post("/contract/charges")
                .header("App-Header", "Set-Cookie=session=secret")
                .header("App-Header", "Date=Thu, 01 Jan 1970 00:00:00 GMT")
                .header("App-Header", "WWW-Authenticate=Basic")
                .header("App-Header", "Keep-Alive=timeout=77")
                .header("App-Header", "App-Private=for one caller");
        Answer first = charge.send().assertRan(201);
        assertThat(first.header("Set-Cookie")).isEqualTo("session=secret");

        Answer replay = charge.send().assertReplays(first);

        assertThat(replay.all("Set-Cookie")).isEmpty();
        assertThat(replay.all("Date")).doesNotContain("Thu, 01 Jan 1970 00:00:00 GMT");
        assertThat(replay.all("WWW-Authenticate")).isEmpty();
        assertThat(replay.all("Keep-Alive")).doesNotContain("timeout=77");
        assertThat(replay.all("App-Private")).isEmpty();
        assertThat(replay.all("App-Execution")).isEmpty();
        assertThat(replay.all("Content-Length")).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    default void whatTheLayerSaysOfItselfIsNotTakenFromTheApplication() {
        Request charge = http().post("/contract/charges")
                .header("App-Header", "Idempotent-Replayed=true")
                .header("App-Header", "Hapax-Operation-Id=forged");

        Answer first = charge.send().assertRan(201);

        assertThat(first.all("Hapax-Operation-Id")).hasSize(1).doesNotContain("forged");
    }
}
