package dev.hapax.testkit.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.http.Probe.Request;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What makes two requests the same. */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
interface FingerprintTests extends HttpTests {

    @Test
    default void memberOrderAndWhiteSpaceOfJsonDoNotMatter() {
        Request charge = http().post("/contract/charges").json("{\"a\":1,\"b\":{\"c\":[1,2],\"d\":\"\\u00e9\"}}");
        Answer first = charge.send().assertRan(201);

        charge.json("\n{ \"b\" : {\"d\":\"é\",\t\"c\":[1, 2]}, \"a\": 1 }\r\n")
                .send()
                .assertReplays(first);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":2,\"b\":[1,2]}",
                "{\"a\":1,\"b\":[2,1]}",
                "{\"a\":\"1\",\"b\":[1,2]}",
                "{\"a\":1,\"b\":[1,2],\"c\":null}",
                "{\"a\":1}",
                "{\"a\":1.0000000000000000000000001,\"b\":[1,2]}",
                "[]"
            })
    default void otherJsonIsAnotherRequest(String other) {
        Request charge = http().post("/contract/charges").json("{\"a\":1,\"b\":[1,2]}");
        charge.send().assertRan(201);

        charge.json(other).send().assertProblem(422, "key-reused", false);
    }

    @Test
    default void duplicateMembersAreRefused() {
        Request charge = http().post("/contract/charges").json("{\"a\":1,\"a\":2}");

        charge.send().assertProblem(400, "request-invalid", false);

        assertThat(charge.runs()).isZero();
    }

    @Test
    default void anotherQueryIsAnotherRequest() {
        Request charge = http().post("/contract/charges?a=1");
        Answer first = charge.send().assertRan(201);

        charge.send().assertReplays(first);
        for (String path : List.of("/contract/charges?a=2", "/contract/charges", "/contract/charges?a=1&b")) {
            charge.path(path).send().assertProblem(422, "key-reused", false);
        }
    }

    @Test
    default void anotherContentTypeIsAnotherRequest() {
        Request charge = http().post("/contract/charges").body("text/plain", "{}".getBytes(UTF_8));
        Answer first = charge.send().assertRan(201);

        charge.send().assertReplays(first);
        charge.json("{}").send().assertProblem(422, "key-reused", false);
    }

    @Test
    default void anyOtherBodyIsComparedByItsBytes() {
        byte[] bytes = {0, 1, 2, (byte) 0xff};
        Request charge = http().post("/contract/charges").body("application/octet-stream", bytes);
        Answer first = charge.send().assertRan(201);

        charge.send().assertReplays(first);
        bytes = new byte[] {0, 1, 2, (byte) 0xfe};
        charge.body("application/octet-stream", bytes).send().assertProblem(422, "key-reused", false);
    }

    @Test
    default void anEmptyBodyIsARequestToo() {
        Request charge = http().post("/contract/charges").without("Content-Type");
        Request bare = new Request(charge.probe(), "POST", charge.path(), charge.headers(), new byte[0]);
        Answer first = bare.send().assertRan(201);

        bare.send().assertReplays(first);
        bare.json("{}").send().assertProblem(422, "key-reused", false);
    }

    @Test
    default void theBoundaryOfMultipartDoesNotMatter() {
        Request upload = multipart(http().post("/contract/charges"), "one", "some text");
        Answer first = upload.send().assertRan(201);

        multipart(upload, "another", "some text").send().assertReplays(first);
        multipart(upload, "one", "other text").send().assertProblem(422, "key-reused", false);
    }

    private static Request multipart(Request request, String boundary, String text) {
        String body = """
                --%1$s
                Content-Disposition: form-data; name="note"

                %2$s
                --%1$s
                Content-Disposition: form-data; name="file"; filename="a.bin"
                Content-Type: application/octet-stream

                \1\2\3
                --%1$s--
                """.formatted(boundary, text).replace("\n", "\r\n");
        return request.body("multipart/form-data; boundary=" + boundary, body.getBytes(UTF_8));
    }

    @Test
    default void headersThatAreNoPartOfTheRequestDoNotMatter() {
        Request charge = http().post("/contract/charges");
        Answer first = charge.send().assertRan(201);

        charge.header("User-Agent", "another")
                .header("X-Request-Id", "7")
                .send()
                .assertReplays(first);
    }
}
