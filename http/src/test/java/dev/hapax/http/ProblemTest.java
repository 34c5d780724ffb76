package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.http.Problem.Facts;
import dev.hapax.store.OperationId;
import java.util.Arrays;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ProblemTest {

    static String member(HttpResponse response, String pointer) {
        return CanonicalJson.of(response.body())
                .flatMap(json -> json.scalar(JsonPointer.of(pointer)))
                .orElse("none");
    }

    @Test
    void looksAsRfc9457Says() {
        HttpResponse response = Problem.IN_DOUBT.response("what \"happened\"");
        assertThat(response.status()).isEqualTo(409);
        assertThat(response.headers().first("Content-Type")).contains("application/problem+json");
        assertThat(response.headers().first("Link")).contains("</.hapax/problems/in-doubt>; rel=\"describedby\"");
        assertThat(Api.text(response))
                .isEqualTo(
                        "{\"type\":\"urn:hapax:problem:in-doubt\",\"title\":\"Nobody knows how the operation ended\","
                                + "\"status\":409,\"detail\":\"what \\\"happened\\\"\",\"retryable\":false}");
    }

    @Test
    void saysWhatElseIsKnown() {
        OperationId id = new OperationId(new UUID(1, 2));
        HttpResponse response = Problem.RESPONSE_NOT_STORED.response("d", new Facts(id, 0, 201));
        assertThat(member(response, "/operation_id")).isEqualTo(id.toString());
        assertThat(member(response, "/original_status")).isEqualTo("201");
        HttpResponse failed = Problem.OPERATION_FAILED.response("d", new Facts(null, 402, 0));
        assertThat(failed.status()).isEqualTo(402);
        assertThat(member(failed, "/status")).isEqualTo("402");
        assertThat(member(failed, "/operation_id")).isEqualTo("none");
    }

    @ParameterizedTest
    @EnumSource
    void saysWhenToTryAgainIfThatHelps(Problem problem) {
        assertThat(problem.response("d").headers().contains("Retry-After")).isEqualTo(problem.retryable());
    }

    @ParameterizedTest
    @EnumSource
    void isDescribedWhereItsLinkLeads(Problem problem) {
        try (Api api = Api.defaults()) {
            String link = problem.response("d").headers().first("Link").orElseThrow();
            HttpResponse page = api.look(link.substring(1, link.indexOf('>')));
            assertThat(page.status()).isEqualTo(200);
            assertThat(page.headers().first("Content-Type")).contains("text/plain; charset=utf-8");
            assertThat(Api.text(page)).contains(problem.title(), problem.type(), String.valueOf(problem.status()));
            assertThat(Api.text(api.look("/.hapax/problems"))).contains(problem.title());
        }
    }

    @Test
    void typesAreAllDifferent() {
        assertThat(Arrays.stream(Problem.values()).map(Problem::type)).doesNotHaveDuplicates();
    }
}
