package dev.hapax.http.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.http.Answer;
import dev.hapax.testkit.http.Probe.Request;
import jakarta.servlet.RequestDispatcher;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An application that is not at the root, and renders its own errors. */
abstract class ContextTests extends FilterTesting {
    static final HapaxFilter.Settings SETTINGS = HapaxFilter.Settings.defaults().errorPage("/errors/page");

    /** A protected request below the context path. */
    private Request below(Lab.Script script) {
        Request request = request(script);
        return request.path("/shop" + request.path());
    }

    private void renderErrors() {
        lab().at("/errors/page", (request, response) -> {
            response.setContentType("text/html;charset=utf-8");
            response.getWriter()
                    .print(request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) + " "
                            + request.getAttribute(RequestDispatcher.ERROR_MESSAGE) + " "
                            + request.getAttribute(RequestDispatcher.ERROR_EXCEPTION) + " "
                            + request.getAttribute(RequestDispatcher.ERROR_METHOD));
        });
    }

    @Test
    void routesAreBelowTheContextPath() {
        Request charge = below((request, response) -> response.getWriter().print("fine"));

        assertThat(sendTwice(charge).text()).isEqualTo("fine");
        Answer refused = charge.without("Idempotency-Key").send();
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.header("Link")).isEqualTo("</shop/.hapax/problems/key-missing>; rel=\"describedby\"");
        assertThat(http().get("/shop/.hapax/problems/key-missing").send().status())
                .isEqualTo(200);
    }

    @Test
    void noSpellingOfTheContextPathLeadsAroundARoute() {
        String path = lab().on((request, response) -> response.getWriter().print("ran"));
        for (String crooked : List.of(
                "/shop/../shop" + path,
                "/shop/%2e%2e/shop" + path,
                "/shop/x/../../shop" + path,
                "/shop/..;/shop" + path,
                "/shop;x=y" + path,
                "/shop/;x=y" + path,
                "//shop" + path,
                "/shop/" + path,
                "/./shop" + path,
                "/sh%6Fp" + path,
                "/x/../shop" + path,
                "/shop%2F" + path.substring(1))) {
            Answer answer = http().request("POST", crooked).send();

            assertThat(answer.status()).as(crooked).isBetween(400, 499);
        }
        assertThat(lab().runs(path)).isZero();
    }

    @Test
    void theContextPathItselfIsAPath() {
        assertThat(http().request("POST", "/shop").send().status()).isEqualTo(404); // there is no script for it
        assertThat(http().request("POST", "/shop/").send().status()).isEqualTo(404);
    }

    @Test
    void theStatusOfAnOperationIsBelowTheContextPath() {
        Answer charge = below((request, response) -> {}).send();

        assertThat(http().get("/shop/.hapax/operations/" + charge.operationId())
                        .send()
                        .status())
                .isEqualTo(200);
    }

    @Test
    void anErrorIsRenderedByTheErrorPage() {
        renderErrors();
        Request charge = below((request, response) -> {
            response.getOutputStream().print("nobody reads this");
            response.sendError(410, "too late");
        });

        Answer answer = sendTwice(charge);

        assertThat(answer.status()).isEqualTo(410);
        assertThat(answer.header("Content-Type")).isEqualToIgnoringCase("text/html;charset=utf-8");
        assertThat(answer.text()).isEqualTo("410 too late null POST");
    }

    @Test
    void anExceptionIsRenderedByTheErrorPage() {
        renderErrors();
        Request charge = below((request, response) -> {
            throw new IllegalStateException("broken");
        });

        Answer answer = sendTwice(charge);

        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.text()).isEqualTo("500 broken java.lang.IllegalStateException: broken POST");
    }

    @Test
    void anErrorOfALaterThreadIsRenderedByTheErrorPage() {
        renderErrors();
        Request charge = below((request, response) -> {
            var async = request.startAsync();
            async.start(() -> {
                throw new IllegalStateException("broken");
            });
        });

        assertThat(sendTwice(charge).text()).startsWith("500 broken");
    }

    @Test
    void anErrorPageThatFailsLeavesAProblem() {
        lab().at("/errors/page", (request, response) -> {
            response.getWriter().print("half of ");
            throw new IllegalStateException("the page is broken too");
        });
        Request charge = below((request, response) -> response.sendError(410, "too late"));

        Answer answer = sendTwice(charge);

        assertThat(answer.status()).isEqualTo(410);
        assertThat(answer.text())
                .isEqualTo("{\"type\":\"about:blank\",\"title\":\"The request was refused\",\"status\":410,"
                        + "\"detail\":\"too late\"}");
    }
}
