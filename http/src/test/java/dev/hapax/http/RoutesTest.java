package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RoutesTest {
    private static final Routes ROUTES = new Routes(List.of(
            route("POST", "/v1/charges", "charges"),
            route("POST", "/v1/orders/{order_id}/invoice", "invoices"),
            route("PUT", "/v1/files/**", "files"),
            route("POST", "/v1/{kind}/special", "special")));

    private static Route route(String method, String path, String scope) {
        return new Route(method, PathPattern.of(path), scope, KeySource.Header.DEFAULT, HttpPolicy.defaults());
    }

    private static Optional<Match> match(String method, String path, String... headers) {
        return ROUTES.match(method, path, Headers.of(headers));
    }

    private static Problem refusal(String method, String path, String... headers) {
        try {
            Optional<Match> match = match(method, path, headers);
            throw new AssertionError(path + " is not refused, but " + match);
        } catch (ProblemException refused) {
            return refused.problem();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/charges,                      charges,  /v1/charges",
        "/v1/charges/,                     charges,  /v1/charges",
        "/V1/Charges,                      charges,  /v1/charges",
        "/v1/%63harges,                    charges,  /v1/charges",
        "/%76%31/c%48arges/,               charges,  /v1/charges",
        "/v1/charges.json,                 charges,  /v1/charges.json",
        "/v1/CHARGES.JSON,                 charges,  /v1/charges.json",
        "/v1/charges%2Ejson,               charges,  /v1/charges.json",
        "/v1/charge%C5%BF,                 charges,  /v1/charges",
        "/v1/orders/42/invoice,            invoices, /v1/orders/42/invoice",
        "/v1/orders/A%20b/INVOICE,         invoices, /v1/orders/A%20b/invoice",
        "/v1/orders/%41/invoice,           invoices, /v1/orders/A/invoice",
        "/v1/orders/caf%c3%a9/invoice,     invoices, /v1/orders/caf%C3%A9/invoice",
        "/v1/orders/100%25/invoice,        invoices, /v1/orders/100%25/invoice",
        "/v1/orders/100%25up/invoice,      invoices, /v1/orders/100%25up/invoice",
        "/v1/orders/a.b/invoice,           invoices, /v1/orders/a.b/invoice",
        "/v1/orders/.../invoice/x/../..,   '',       ''",
        "/v1/any/special,                  special,  /v1/any/special",
    })
    void harmlessSpellingsAreMatched(String path, String scope, String normal) {
        if (scope.isEmpty()) {
            assertThat(refusal("POST", path)).isEqualTo(Problem.PATH_AMBIGUOUS);
            return;
        }
        Match match = match("POST", path).orElseThrow();
        assertThat(match.route().scope()).isEqualTo(scope);
        assertThat(match.path()).isEqualTo(normal);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/charges;a=b",
                "/v1;x/charges",
                "/v1/charges;/",
                "/v1/charges%3Bx",
                "//v1/charges",
                "/v1//charges",
                "/v1/charges//",
                "/v1/./charges",
                "/v1/x/../charges",
                "/v1/x/..;/charges",
                "/v1/x/..;a=b/charges",
                "/v1/x/%2e%2e/charges",
                "/v1/x/.%2E/charges",
                "/../v1/charges",
                "/v1/charges/.",
                "/v1/charges/x/..",
                "/x/..//v1/charges",
                "/v1%2fcharges",
                "/v1%2Fcharges",
                "/v1/%2fcharges",
                "/v1/charges%2f",
                "/v1%5ccharges",
                "/v1\\charges",
                "/x/..%5c..%5cv1/charges",
                "/v1%252fcharges",
                "/v1/%2563harges",
                "/v1/%25%36%33harges",
                "/v1/charges%00",
                "/v1/charges%00.html",
                "/v1/char%00ges",
                "/v1/charges%0a",
                "/v1/charges%0d%0aX:y",
                "/v1/charges%20",
                "/v1/%20charges",
                "/v1/charges%09",
                "/v1/charges.",
                "/v1/charges...",
                "/v1/charges%3f",
                "/v1/charges%3Fa=b",
                "/v1/charges%23",
                "/v1/charges/%3f",
                "/v1/charges%",
                "/v1/charges%zz",
                "/v1/charges%u002f",
                "/v1/charges%25U002f",
                "/%c0%af/v1/charges",
                "/v1%c0%afcharges",
                "/v1/%c1%a3harges",
                "/v1/charges%ff",
                "/v1/%EF%BD%83harges",
                "/v1%EF%BC%8Fcharges",
                "/v1/charges%E2%80%8B",
                "/v1/orders/a%2fb/invoice",
                "/v1/orders/4%EF%BC%8F2/invoice",
                "/v1/orders//invoice",
                "/v1/orders/42;x/invoice",
                "/v1/orders/42%3Bx/invoice",
                "/v1/orders/../invoice",
                "/v1;x=%2fjunk/charges",
                "/v1/charges;x/and/more",
                "http://host/v1/charges",
                "v1/charges",
                "*",
                ""
            })
    void spellingsThatAServerMightReadAsProtectedAreRefused(String path) {
        assertThat(refusal("POST", path)).isEqualTo(Problem.PATH_AMBIGUOUS);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/v1",
                "/v1/charge",
                "/v1/chargess",
                "/v1/charges/1",
                "/v1/charges.backup",
                "/v1/charges-old",
                "/v2/charges",
                "/v1/orders/1/2/invoice",
                "/x/v1/charges",
                "/notes//1",
                "/notes/a;b=c",
                "/notes/./x",
                "/notes/a%2fb",
                "/notes/%00",
                "/v1/notes;charges",
                "/notes/../v2/charges",
                "/v1/notes%20",
                "/files/orders;v=1/x"
            })
    void whatNobodyReadsAsProtectedPasses(String path) {
        assertThat(match("POST", path)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "TRACE", "DELETE", "PATCH"})
    void otherMethodsPassWhateverTheirPath(String method) {
        assertThat(match(method, "/v1/charges")).isEmpty();
        assertThat(match(method, "/v1//charges%zz")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"post", "Post", "POST"})
    void methodsInSmallLettersAreNoWayAround(String method) {
        assertThat(match(method, "/v1/charges")).isPresent();
    }

    @Test
    void pathValuesAreDecoded() {
        assertThat(match("POST", "/v1/orders/a%20%C3%A9/invoice").orElseThrow().pathValues())
                .isEqualTo(Map.of("order_id", "a é"));
    }

    @Test
    void firstRouteThatFitsCounts() {
        Routes routes = new Routes(List.of(route("POST", "/a/{x}", "first"), route("POST", "/a/b", "second")));
        Match match = routes.match("POST", "/a/b", Headers.NONE).orElseThrow();
        assertThat(match.route().scope()).isEqualTo("first");
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-HTTP-Method-Override", "x-http-method", "X-METHOD-OVERRIDE"})
    void headersThatChangeTheMethodAreRefusedWhereItWouldBeProtected(String header) {
        assertThat(refusal("GET", "/v1/charges", header, "POST")).isEqualTo(Problem.REQUEST_INVALID);
        assertThat(refusal("POST", "/v1/files/a", header, "put ")).isEqualTo(Problem.REQUEST_INVALID);
        assertThat(refusal("POST", "/v1/charges", header, "DELETE")).isEqualTo(Problem.REQUEST_INVALID);
        assertThat(refusal("POST", "/v1//files/a", header, "PUT")).isEqualTo(Problem.PATH_AMBIGUOUS);
        assertThat(match("POST", "/v1/charges", header, "post")).isPresent();
        assertThat(match("POST", "/v1/charges", header, "")).isPresent();
        assertThat(match("GET", "/v1/charges", header, "DELETE")).isEmpty();
        assertThat(match("POST", "/notes", header, "PUT")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-Original-URL", "x-rewrite-url"})
    void headersThatChangeThePathAreRefusedWhereItWouldBeProtected(String header) {
        assertThat(refusal("POST", "/notes", header, "/v1/charges?a=b")).isEqualTo(Problem.REQUEST_INVALID);
        assertThat(refusal("POST", "/notes", header, "https://host/v1/charges")).isEqualTo(Problem.REQUEST_INVALID);
        assertThat(refusal("POST", "/notes", header, "/v1/./charges")).isEqualTo(Problem.PATH_AMBIGUOUS);
        assertThat(match("POST", "/v1/charges", header, "https://host/v1/charges?a=b"))
                .isPresent();
        assertThat(match("POST", "/v1/charges", header, "")).isPresent();
        assertThat(match("POST", "/notes", header, "/notes")).isEmpty();
        assertThat(match("GET", "/notes", header, "/v1/charges")).isEmpty();
    }

    @Test
    void longAndDeepPathsAreReadInTime() {
        String ups = "/..".repeat(2000);
        assertThat(refusal("POST", ups + "/v1/charges")).isEqualTo(Problem.PATH_AMBIGUOUS);
        assertThat(refusal("POST", "/a/..".repeat(30) + "/v1/charges")).isEqualTo(Problem.PATH_AMBIGUOUS);
        assertThat(refusal("POST", "/%" + "25".repeat(3000) + "2f")).isEqualTo(Problem.PATH_AMBIGUOUS);
        assertThat(match("POST", "/a".repeat(4000))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT", "post", "", "PO ST"})
    void someMethodsCannotBeProtected(String method) {
        assertThatThrownBy(() -> route(method, "/a", "s")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void naturalKeyNeedsNamesThatThePathHas() {
        KeySource natural = new KeySource.Natural(List.of("order"), List.of());
        assertThatThrownBy(() -> new Route("POST", PathPattern.of("/a/{id}"), "s", natural, HttpPolicy.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("order");
    }
}
