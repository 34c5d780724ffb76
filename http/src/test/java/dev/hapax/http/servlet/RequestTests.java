package dev.hapax.http.servlet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.http.Operation;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import dev.hapax.testkit.http.Answer;
import dev.hapax.testkit.http.Probe.Request;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.Part;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a servlet finds in a request whose body was read before. */
abstract class RequestTests extends FilterTesting {
    private static final String FORM = "application/x-www-form-urlencoded";

    @Test
    void theBodyIsThereAsAStream() {
        Request echo = request((request, response) -> response.getOutputStream()
                        .write(request.getInputStream().readAllBytes()))
                .json("{\"é\": 1}");

        assertThat(sendTwice(echo).text()).isEqualTo("{\"é\": 1}");
    }

    @Test
    void theBodyIsThereForAReader() {
        Lab.Script echo = (request, response) -> {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().print(request.getReader().readLine());
        };

        assertThat(sendTwice(request(echo).json("{\"é\": 1}")).text()).isEqualTo("{\"é\": 1}");
        assertThat(sendTwice(request(echo).body("text/plain", "é".getBytes(ISO_8859_1)))
                        .text())
                .isEqualTo("é");
        assertThat(sendTwice(request(echo).body("text/plain; charset=utf-8", "é".getBytes(UTF_8)))
                        .text())
                .isEqualTo("é");
    }

    @Test
    void aReaderAndAStreamExcludeEachOther() {
        Request both = request((request, response) -> {
            request.getReader();
            assertThatThrownBy(request::getInputStream).isInstanceOf(IllegalStateException.class);
            response.setStatus(204);
        });
        Request other = request((request, response) -> {
            request.getInputStream();
            assertThatThrownBy(request::getReader).isInstanceOf(IllegalStateException.class);
            response.setStatus(204);
        });

        assertThat(sendTwice(both).status()).isEqualTo(204);
        assertThat(sendTwice(other).status()).isEqualTo(204);
    }

    @Test
    void aFormsParametersAreThoseOfTheQueryAndTheBody() {
        Request form = request((request, response) -> {
            response.setContentType("text/plain;charset=utf-8");
            response.getWriter().print(Arrays.toString(request.getParameterValues("a")));
            response.getWriter().print(request.getParameter("b") + request.getParameter("c"));
            response.getWriter().print(Collections.list(request.getParameterNames()));
        });
        Request filled = form.path(form.path() + "?a=1&q").body(FORM, "a=2&b=%C3%BC+%26&a=3&=&c".getBytes(UTF_8));

        assertThat(filled.send().text())
                .startsWith("[1, 2, 3]ü &[")
                .contains("a")
                .contains("q")
                .contains("b");
    }

    @Test
    void aBodyThatIsNoFormHasNoParameters() {
        Request json = request((request, response) -> {
            assertThat(request.getParameterMap()).containsOnlyKeys("q");
            assertThat(request.getParameter("a")).isNull();
            assertThat(request.getInputStream().readAllBytes()).hasSize(5);
        });

        Answer answer = json.path(json.path() + "?q=1")
                .body("text/plain", "a=1&b".getBytes(UTF_8))
                .send();

        assertThat(answer.status()).isEqualTo(200);
    }

    @Test
    void aFormThatIsEncodedWronglyIsTheServletsToRefuse() {
        Request form = request((request, response) -> {
                    assertThatThrownBy(() -> request.getParameter("a")).isInstanceOf(IllegalStateException.class);
                    response.setStatus(400);
                })
                .body(FORM, "a=%zz".getBytes(UTF_8));

        assertThat(sendTwice(form).status()).isEqualTo(400);
    }

    @Test
    void partsAreThere(@TempDir Path directory) {
        Path copy = directory.resolve("copy");
        Request upload = request((request, response) -> {
            assertThat(request.getParts()).extracting(Part::getName).containsExactly("note", "file", "empty");
            assertThat(request.getParameter("note")).isEqualTo("größer");
            assertThat(request.getParameter("file")).isNull();
            Part file = request.getPart("file");
            assertThat(file.getSubmittedFileName()).isEqualTo("a \"b\".bin");
            assertThat(file.getContentType()).isEqualTo("application/octet-stream");
            assertThat(file.getHeader("content-disposition")).startsWith("form-data");
            assertThat(file.getHeaderNames()).containsExactly("Content-Disposition", "Content-Type");
            assertThat(file.getInputStream().readAllBytes()).isEqualTo("\1\r\n\2".getBytes(UTF_8));
            assertThat(request.getPart("empty").getSize()).isZero();
            assertThat(request.getPart("none")).isNull();
            file.write(copy.toString());
            response.getOutputStream().print("fine");
        });

        Answer answer = sendTwice(multipart(upload));

        assertThat(answer.text()).isEqualTo("fine");
        assertThat(copy).hasBinaryContent("\1\r\n\2".getBytes(UTF_8));
    }

    private static Request multipart(Request request) {
        String body = """
                a preamble
                --bo und
                Content-Disposition: form-data; name="note"

                größer
                --bo und\s\s
                Content-Disposition: form-data; name="file"; filename="a \\"b\\".bin"
                Content-Type: application/octet-stream

                \1
                \2
                --bo und
                Content-Disposition: form-data; name=empty


                --bo und--
                an epilogue
                """.replace("\n", "\r\n");
        return request.body("multipart/form-data; boundary=\"bo und\"", body.getBytes(UTF_8));
    }

    @Test
    void brokenPartsAreTheServletsToRefuse() {
        for (String body : List.of(
                "",
                "--b",
                "--b\r\n",
                "--b\r\n\r\nx\r\n--b--",
                "--b\r\nno colon\r\n\r\nx\r\n--b--",
                "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx",
                "--b\r\nContent-Disposition: form-data; name=a\r\n--b--")) {
            Request upload = request((request, response) -> {
                        assertThatThrownBy(request::getParts).as(body).isInstanceOf(ServletException.class);
                        response.setStatus(400);
                    })
                    .body("multipart/form-data; boundary=b", body.getBytes(UTF_8));

            assertThat(upload.send().status()).isEqualTo(400);
        }
    }

    @Test
    void aBodyLargerThanAllowedIsRefused() throws Exception {
        byte[] large = new byte[Lab.MAX_REQUEST_BODY + 1];
        Request upload = request((request, response) -> {}).body("application/octet-stream", large);

        upload.send().assertProblem(413, "request-too-large", false);

        HttpRequest unknownLength = HttpRequest.newBuilder(URI.create(lab().base(version) + upload.path()))
                .header("Idempotency-Key", "\"k\"")
                .POST(BodyPublishers.ofInputStream(() -> new java.io.ByteArrayInputStream(large)))
                .build();
        HttpResponse<String> refused =
                HttpClient.newBuilder().version(Version.HTTP_1_1).build().send(unknownLength, BodyHandlers.ofString());
        assertThat(refused.statusCode()).isEqualTo(413);
        assertThat(runs(upload)).isZero();
    }

    @Test
    void aBodyAsLargeAsAllowedIsRead() {
        Request upload = request((request, response) -> response.getOutputStream()
                        .print(request.getInputStream().readAllBytes().length))
                .body("application/octet-stream", new byte[Lab.MAX_REQUEST_BODY]);

        assertThat(sendTwice(upload).text()).isEqualTo(Integer.toString(Lab.MAX_REQUEST_BODY));
    }

    @Test
    void theOperationIsThere() {
        Request charge = request((request, response) -> {
            Operation operation = (Operation) request.getAttribute(HapaxFilter.OPERATION);
            response.getOutputStream()
                    .print(operation.key() + " " + operation.lease().attempt() + " "
                            + operation.lease().operationId() + " "
                            + operation.lease().downstreamKey("bank").length());
        });

        Answer answer = charge.key("\"key-" + charge.tag() + '"').send();

        assertThat(answer.text())
                .startsWith("key-" + charge.tag() + " 1 " + answer.operationId() + " ")
                .doesNotEndWith(" 0");
    }

    @Test
    void aServletRunsOnTheContainersThread() {
        Request charge = request((request, response) ->
                response.getOutputStream().print(Thread.currentThread().getName()));

        assertThat(sendTwice(charge).text()).matches("(qtp|http-nio).*");
    }

    @Test
    void whatIsNotProtectedIsTheContainersOwn() {
        String path = lab().on((request, response) -> {
            assertThat(response).isNotInstanceOfAny(CapturedResponse.class, LookThrough.class);
            assertThat(request).isNotInstanceOf(BufferedRequest.class);
        });

        assertThat(http().get(path).send().status()).isEqualTo(200);
    }

    @Test
    void whatAnUnprotectedServletThrowsIsTheContainersToAnswer() {
        String path = lab().on("/open/", (request, response) -> {
            throw new ProblemException(Problem.IN_DOUBT, "not meant for the filter");
        });

        assertThat(http().keyless(path).send().status()).isEqualTo(500);
    }

    @Test
    void aProtectedRequestCannotBeUpgraded() {
        Request upgrade = request((request, response) -> {
            assertThatThrownBy(() -> request.upgrade(null)).isInstanceOf(IllegalStateException.class);
        });

        assertThat(sendTwice(upgrade).status()).isEqualTo(200);
    }
}
