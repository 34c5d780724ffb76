package dev.hapax.http.servlet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.hapax.OutcomeUnknownException;
import dev.hapax.TerminalFailure;
import dev.hapax.testkit.http.Answer;
import dev.hapax.testkit.http.Probe.Request;
import jakarta.servlet.ServletException;
import jakarta.servlet.UnavailableException;
import jakarta.servlet.http.Cookie;
import java.io.PrintWriter;
import java.io.UnsupportedEncodingException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What becomes of what a servlet answers. */
abstract class ResponseTests extends FilterTesting {

    @Test
    void aWriterWritesInTheResponsesEncoding() {
        Request utf8 = request((request, response) -> {
            response.setContentType("text/plain; charset=utf-8");
            response.getWriter().print("größer €");
        });
        Request latin = request((request, response) -> {
            response.setContentType("text/plain");
            response.setCharacterEncoding("ISO-8859-1");
            response.getWriter().print("größer");
        });
        Request json = request((request, response) -> {
            response.setContentType("application/json");
            response.getWriter().print("\"größer €\"");
        });

        assertThat(sendTwice(utf8).text()).isEqualTo("größer €");
        assertThat(new String(sendTwice(latin).body(), ISO_8859_1)).isEqualTo("größer");
        assertThat(latin.send().header("Content-Type")).isEqualToIgnoringCase("text/plain;charset=ISO-8859-1");
        assertThat(sendTwice(json).text()).isEqualTo("\"größer €\"");
    }

    @Test
    void theEncodingStaysOnceTheWriterIsThere() {
        Request charge = request((request, response) -> {
            response.setContentType("text/plain;charset=utf-8");
            PrintWriter writer = response.getWriter();
            response.setCharacterEncoding("ISO-8859-1");
            response.setContentType("text/html;charset=ISO-8859-1");
            writer.print("ü");
            assertThat(response.getCharacterEncoding()).isEqualToIgnoringCase("utf-8");
        });

        Answer answer = sendTwice(charge);

        assertThat(answer.body()).isEqualTo("ü".getBytes(UTF_8));
        assertThat(answer.header("Content-Type")).isEqualToIgnoringCase("text/html;charset=utf-8");
    }

    @Test
    void aResponseWithoutAnythingIsAnEmpty200() {
        Answer answer = sendTwice(request((request, response) -> {}));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).isEmpty();
    }

    @Test
    void aStatusWithoutABodyHasNone() {
        Request noContent = request((request, response) -> {
            response.setStatus(204);
            response.getOutputStream().print("nobody reads this");
        });

        assertThat(sendTwice(noContent).body()).isEmpty();
    }

    @Test
    void headersAreKeptAsSet() {
        Request charge = request((request, response) -> {
            response.setHeader("ETag", "\"old\"");
            response.setHeader("ETag", "\"new\"");
            response.addHeader("Link", "</a>; rel=a");
            response.addHeader("Link", "</b>; rel=b");
            response.setDateHeader("Last-Modified", 0);
            response.setIntHeader("Retry-After", 7);
            response.setLocale(Locale.GERMANY);
            response.setHeader("Vary", "Origin");
            response.setHeader("Vary", null);
            response.setContentLength(3);
            assertThat(response.getHeader("etag")).isEqualTo("\"new\"");
            assertThat(response.getHeaders("Link")).hasSize(2);
            assertThat(response.containsHeader("Vary")).isFalse();
            assertThat(response.getHeaderNames()).contains("Last-Modified", "Content-Language");
            response.getOutputStream().print("abc");
        });

        sendTwice(charge);
        Answer replay = charge.send();

        assertThat(replay.header("ETag")).isEqualTo("\"new\"");
        assertThat(replay.all("Link")).containsExactly("</a>; rel=a", "</b>; rel=b");
        assertThat(replay.header("Last-Modified")).isEqualTo("Thu, 01 Jan 1970 00:00:00 GMT");
        assertThat(replay.header("Retry-After")).isEqualTo("7");
        assertThat(replay.header("Content-Language")).isEqualTo("de-DE");
        assertThat(replay.all("Vary")).isEmpty();
    }

    @Test
    void cookiesAreForTheFirstCaller() {
        Request charge = request((request, response) -> {
            response.addCookie(new Cookie("session", "secret"));
            request.getSession();
        });

        Answer first = charge.send();
        Answer replay = charge.send().assertReplays(first);

        assertThat(first.all("Set-Cookie")).hasSize(2).anyMatch(cookie -> cookie.startsWith("session=secret"));
        assertThat(replay.all("Set-Cookie")).isEmpty();
    }

    @Test
    void anErrorIsRenderedAndReplayed() {
        Request charge = request((request, response) -> {
            response.getWriter().print("nobody reads this");
            response.setHeader("Cache-Control", "no-cache");
            response.sendError(404, "no \"such\" charge");
            assertThat(response.isCommitted()).isTrue();
            response.getWriter().print("nor this");
        });

        Answer answer = sendTwice(charge);

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(answer.header("Cache-Control")).isEqualTo("no-cache");
        assertThat(answer.text())
                .isEqualTo("{\"type\":\"about:blank\",\"title\":\"The request was refused\",\"status\":404,"
                        + "\"detail\":\"no \\\"such\\\" charge\"}");
    }

    @Test
    void anErrorThatSaysNothingRanIsNotStored() {
        Request charge = request((request, response) -> response.sendError(429));

        assertThat(charge.send().assertRan(429).text()).contains("429");
        charge.send().assertRan(429);

        assertThat(runs(charge)).isEqualTo(2);
    }

    @Test
    void aRedirectIsReplayed() {
        Request absolute = request((request, response) -> response.sendRedirect("https://example.org/a?b"));
        Request rooted = request((request, response) -> response.sendRedirect("/a"));
        Request relative = request((request, response) -> {
            response.getWriter().print("nobody reads this");
            response.sendRedirect("../a");
        });

        for (Request redirect : List.of(absolute, rooted, relative)) {
            Answer first = redirect.send().assertRan(302);
            assertThat(first.body()).isEmpty();
            assertThat(redirect.send().assertReplays(first).header("Location")).isEqualTo(first.header("Location"));
        }
        assertThat(absolute.send().header("Location")).isEqualTo("https://example.org/a?b");
        assertThat(relative.send().header("Location")).isEqualTo("/a");
    }

    @Test
    void aRedirectMayHaveAnotherStatusAndABody() throws Exception {
        Request redirect = request((request, response) -> {
            response.getOutputStream().print("over there");
            response.sendRedirect("/a", 303, false);
        });

        Answer answer = sendTwice(redirect);

        assertThat(answer.status()).isEqualTo(303);
        assertThat(answer.text()).isEqualTo("over there");
    }

    @Test
    void whateverIsFlushedIsCommitted() {
        Request writer = request((request, response) -> {
            response.getWriter().print("a");
            response.getWriter().flush();
            assertThat(response.isCommitted()).isTrue();
            response.getWriter().print("b");
        });
        Request stream = request((request, response) -> {
            response.getOutputStream().write('a');
            response.getOutputStream().flush();
            assertThat(response.isCommitted()).isTrue();
            response.getOutputStream().write('b');
        });

        assertThat(sendTwice(writer).text()).isEqualTo("ab");
        assertThat(sendTwice(stream).text()).isEqualTo("ab");
    }

    @Test
    void whatFramesTheMessageIsNotForServlets() {
        Request charge = request((request, response) -> {
            response.setHeader("Content-Length", "nonsense");
            response.setHeader("Content-Length", "2");
            response.setHeader("Transfer-Encoding", "chunked");
            response.setTrailerFields(() -> Map.of("Trailer", "lost"));
            response.getOutputStream().print("abc");
        });

        assertThat(sendTwice(charge).text()).isEqualTo("abc");
    }

    @Test
    void anUnknownEncodingIsRefused() {
        Request charge = request((request, response) -> {
            response.setContentType("text/plain;charset=klingon");
            assertThatThrownBy(response::getWriter).isInstanceOf(UnsupportedEncodingException.class);
            response.setContentType(null);
            response.getWriter().print("fine");
        });

        assertThat(sendTwice(charge).text()).isEqualTo("fine");
    }

    @Test
    void aThreadThatIsToldToStopRefusesWhatItHasNotBegun() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        String path = lab().on("/wait/", (request, response) -> {
            begun.countDown();
            goOn.await();
            response.getWriter().print("done");
        });
        Request charge = http().post(path);
        CompletableFuture<Answer> first = charge.sendAsync();
        assertThat(begun.await(60, SECONDS)).isTrue();
        CompletableFuture<Answer> second = charge.sendAsync();

        await().until(ResponseTests::waiting, threads -> !threads.isEmpty()).forEach(Thread::interrupt);

        second.get(60, SECONDS).assertProblem(503, "shutting-down", true);
        goOn.countDown();
        assertThat(first.get(60, SECONDS).assertRan(200).text()).isEqualTo("done");
        assertThat(lab().runs(path)).isEqualTo(1);
    }

    /** The threads of containers that wait for their turn. */
    private static List<Thread> waiting() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> List.of(thread.getValue()).stream()
                        .takeWhile(frame -> !frame.getClassName().equals(RunLoop.class.getName()))
                        .allMatch(frame -> frame.getClassName().startsWith("j")))
                .filter(thread -> List.of(thread.getValue()).stream()
                        .anyMatch(frame -> frame.getClassName().equals(RunLoop.class.getName())))
                .map(Map.Entry::getKey)
                .toList();
    }

    @Test
    void nothingReachesTheClientBeforeItIsStored() throws Exception {
        CountDownLatch flushed = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Request charge = request((request, response) -> {
            response.setHeader("ETag", "\"early\"");
            response.getWriter().print("first ");
            response.flushBuffer();
            assertThat(response.isCommitted()).isTrue();
            response.setHeader("ETag", "\"late\"");
            response.setStatus(500);
            assertThatThrownBy(response::reset).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(response::resetBuffer).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> response.sendError(500)).isInstanceOf(IllegalStateException.class);
            flushed.countDown();
            goOn.await();
            response.getWriter().print("second");
        });
        CompletableFuture<Boolean> headArrived = headArrival(charge);
        assertThat(flushed.await(60, SECONDS)).isTrue();
        await().during(Duration.ofMillis(200)).until(() -> !headArrived.isDone());

        goOn.countDown();

        assertThat(headArrived.get(60, SECONDS)).isTrue();
        Answer replay = charge.sendUntilReplayed();
        assertThat(replay.status()).isEqualTo(200);
        assertThat(replay.text()).isEqualTo("first second");
        assertThat(replay.header("ETag")).isEqualTo("\"early\"");
    }

    private CompletableFuture<Boolean> headArrival(Request request) throws Exception {
        return Streaming.open(lab(), version, request).thenApply(response -> response.statusCode() == 200);
    }

    @Test
    void whatIsResetIsGone() {
        Request charge = request((request, response) -> {
            response.setStatus(500);
            response.setHeader("ETag", "\"old\"");
            response.addCookie(new Cookie("a", "b"));
            response.getWriter().print("old");
            response.resetBuffer();
            assertThat(response.getHeader("ETag")).isEqualTo("\"old\"");
            response.reset();
            assertThat(response.getStatus()).isEqualTo(200);
            response.setContentType("text/plain");
            response.getOutputStream().print("new");
        });

        Answer answer = sendTwice(charge);

        assertThat(answer.text()).isEqualTo("new");
        assertThat(answer.all("ETag")).isEmpty();
        assertThat(answer.all("Set-Cookie")).isEmpty();
    }

    @Test
    void aWriterAndAStreamExcludeEachOther() {
        Request writer = request((request, response) -> {
            response.getWriter();
            assertThatThrownBy(response::getOutputStream).isInstanceOf(IllegalStateException.class);
        });
        Request stream = request((request, response) -> {
            response.getOutputStream();
            assertThatThrownBy(response::getWriter).isInstanceOf(IllegalStateException.class);
        });

        assertThat(sendTwice(writer).status()).isEqualTo(200);
        assertThat(sendTwice(stream).status()).isEqualTo(200);
    }

    @Test
    void whatIsWrittenAfterTheEndIsIgnored() {
        Request closed = request((request, response) -> {
            PrintWriter writer = response.getWriter();
            writer.print("all");
            writer.close();
            writer.print("more");
        });

        assertThat(sendTwice(closed).text()).isEqualTo("all");
    }

    @Test
    void anExceptionIsA500AndStored() {
        for (Exception thrown : List.of(
                new IllegalStateException("secret"),
                new ServletException("secret"),
                new java.io.IOException("secret"))) {
            Request charge = request((request, response) -> {
                response.getWriter().print("half of ");
                response.flushBuffer();
                throw thrown;
            });

            Answer first =
                    charge.send().assertProblem(500, "operation-failed", false).assertKnown();
            charge.send().assertReplays(first);

            assertThat(first.text()).doesNotContain("secret");
            assertThat(runs(charge)).isEqualTo(1);
        }
    }

    @Test
    void anErrorOfTheMachineIsA500Too() {
        Request charge = request((request, response) -> {
            throw new StackOverflowError();
        });

        Answer first = charge.send().assertProblem(500, "operation-failed", false);
        charge.send().assertReplays(first);
    }

    @Test
    void anExceptionIsReleasedWhereThePolicySaysSo() {
        String path = lab().on("/released/", (request, response) -> {
            if (request.getHeader("Fail") != null) {
                throw new IllegalStateException("secret");
            }
        });
        Request charge = http().post(path);

        charge.header("Fail", "yes").send().assertProblem(500, "internal", true).assertKnown();
        charge.send().assertRan(200);

        assertThat(lab().runs(path)).isEqualTo(2);
    }

    @Test
    void aServletThatDoesNotKnowLeavesTheOperationInDoubt() {
        for (Exception thrown : List.of(
                new OutcomeUnknownException("no answer", null),
                new ServletException(new OutcomeUnknownException("no answer", null)))) {
            Request charge = request((request, response) -> {
                throw thrown;
            });

            charge.send().assertProblem(409, "in-doubt", false);
            charge.send().assertProblem(409, "in-doubt", false);

            assertThat(runs(charge)).isEqualTo(1);
        }
    }

    @Test
    void aTerminalFailureIsStoredWithItsCode() {
        Request charge = request((request, response) -> {
            throw new ServletException(new TerminalFailure(402, "declined"));
        });

        Answer first = charge.send().assertKnown();

        assertThat(first.status()).isEqualTo(402);
        assertThat(charge.send().status()).isEqualTo(402);
        assertThat(runs(charge)).isEqualTo(1);
    }

    @Test
    void aServletThatIsUnavailableDidNotRun() {
        String path = lab().on("/fragile/", (request, response) -> {
            if (request.getHeader("Fail") != null) {
                throw new UnavailableException("later", 1);
            }
        });
        Request charge = http().post(path);

        assertThat(charge.header("Fail", "yes").send().status()).isEqualTo(503);

        await().pollInterval(Duration.ofMillis(400)) // an operation has ten attempts
                .until(charge::send, answer -> answer.status() != 503)
                .assertRan(200);
    }

    @Test
    void aForwardAndAnIncludeBelongToTheResponse() {
        String target = lab().on("/inner/", (request, response) -> {
            assertThat(request.getAttribute(HapaxFilter.OPERATION)).isNotNull();
            response.getWriter().print("inner");
        });
        Request forward = request((request, response) -> {
            response.getWriter().print("nobody reads this");
            request.getRequestDispatcher(target).forward(request, response);
        });
        Request include = request((request, response) -> {
            response.getWriter().print("outer ");
            request.getRequestDispatcher(target).include(request, response);
        });

        assertThat(sendTwice(forward).text()).isEqualTo("inner");
        assertThat(sendTwice(include).text()).isEqualTo("outer inner");
    }

    @Test
    void aForwardToAProtectedPathIsNotProtected() {
        String target = lab().on((request, response) -> {
            assertThat(request.getAttribute(HapaxFilter.OPERATION)).isNull();
            assertThat(response.isCommitted()).isFalse();
        });
        String path = lab().on(
                        "/open/",
                        (request, response) ->
                                request.getRequestDispatcher(target).forward(request, response));

        assertThat(http().keyless(path).send().status()).isEqualTo(200);
        assertThat(http().keyless(path).send().status()).isEqualTo(200);
        assertThat(lab().runs(target)).isEqualTo(2);
    }

    @Test
    void aHeadOfAnErrorHasNoBody() {
        Answer head = http().request("HEAD", "/.hapax/operations/nonsense").send();
        Answer get = http().get("/.hapax/operations/nonsense").send();

        assertThat(head.status()).isEqualTo(get.status()).isEqualTo(404);
        assertThat(head.body()).isEmpty();
        assertThat(head.header("Content-Type")).isEqualTo("application/problem+json");
    }

    @Test
    void aHeadOfAServletsErrorIsTheContainersOwn() {
        String path = lab().on((request, response) -> response.sendError(404));

        Answer head = http().request("HEAD", path).send();

        assertThat(head.status()).isEqualTo(404);
        assertThat(head.body()).isEmpty();
    }
}
