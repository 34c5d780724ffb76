package dev.hapax.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What came back. */
@SuppressWarnings("ArrayRecordComponent")
public record Answer(int status, HttpHeaders headers, byte[] body) {

    public String header(String name) {
        return headers.firstValue(name).orElse("");
    }

    public List<String> all(String name) {
        return headers.allValues(name);
    }

    public boolean replayed() {
        return header("Idempotent-Replayed").equals("true");
    }

    public String operationId() {
        return header("Hapax-Operation-Id");
    }

    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** A member of a JSON object that holds no objects, as it is written; empty when it is not there. */
    public String member(String name) {
        Matcher member = Pattern.compile('"' + Pattern.quote(name) + "\"\\s*:\\s*(\"[^\"]*\"|[^\",}\\s]+)")
                .matcher(text());
        return member.find() ? member.group(1).replace("\"", "") : "";
    }

    /** It is the handler's own response, of this request. */
    public Answer assertRan(int status) {
        assertThat(this.status).as("%s", this).isEqualTo(status);
        assertThat(replayed()).as("%s", this).isFalse();
        return assertKnown();
    }

    /** It is what the first request got, byte for byte, and says so. */
    public Answer assertReplays(Answer first) {
        assertThat(status).as("%s", this).isEqualTo(first.status);
        assertThat(replayed()).as("%s", this).isTrue();
        assertThat(body).isEqualTo(first.body);
        assertThat(operationId()).isEqualTo(first.operationId());
        return assertKnown();
    }

    /** It says which operation it is about. */
    public Answer assertKnown() {
        assertThat(operationId()).as("%s", this).isNotEmpty();
        return this;
    }

    /** It is a problem of this layer, with all that belongs to one. */
    public Answer assertProblem(int status, String name, boolean retryable) {
        assertThat(this.status).as("%s", this).isEqualTo(status);
        assertThat(header("Content-Type")).startsWith("application/problem+json");
        assertThat(member("type")).as("%s", this).isEqualTo("urn:hapax:problem:" + name);
        assertThat(member("status")).isEqualTo(Integer.toString(status));
        assertThat(member("title")).isNotEmpty();
        assertThat(member("detail")).isNotEmpty();
        assertThat(member("retryable")).isEqualTo(Boolean.toString(retryable));
        assertThat(all("Link")).contains("</.hapax/problems/" + name + ">; rel=\"describedby\"");
        return this;
    }

    /** It says when to come back. */
    public Answer assertRetryAfter() {
        assertThat(header("Retry-After")).matches("[1-9][0-9]*");
        return this;
    }

    @Override
    public String toString() {
        return "%d %s %s".formatted(status, headers.map(), body.length > 1000 ? body.length + " bytes" : text());
    }
}
