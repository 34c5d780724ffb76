package dev.hapax.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.hapax.testkit.http.Probe.Request;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is protected, and where keys come from. */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
interface KeyTests extends HttpTests {

    @Test
    default void aKeyMayBeQuotedOrNot() {
        Request charge = http().post("/contract/charges");
        Answer first = charge.send().assertRan(201);

        charge.key(charge.tag()).send().assertReplays(first);
    }

    @Test
    default void escapesInAKeyAreRead() {
        Request charge = http().post("/contract/charges");
        String key = charge.tag() + "\\\"\\\\";
        Answer first = charge.key('"' + key + '"').send().assertRan(201);

        charge.key('"' + key + '"').send().assertReplays(first);
        charge.send().assertRan(201);
    }

    @Test
    default void theLongestKeyIsAccepted() {
        String key = UUID.randomUUID() + "k".repeat(219);
        Request charge = http().post("/contract/charges").key('"' + key + '"');

        charge.send().assertRan(201);
        charge.key(key).send().assertKnown();

        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void keysDifferInCase() {
        Request charge = http().post("/contract/charges").key("\"a" + UUID.randomUUID() + '"');
        String upper = charge.headers().stream()
                .filter(header -> header.getKey().equals("Idempotency-Key"))
                .map(header -> header.getValue().replace("\"a", "\"A"))
                .findFirst()
                .orElseThrow();

        charge.send().assertRan(201);
        charge.key(upper).send().assertRan(201);
    }

    @Test
    default void onlyAQuotedKeyIsAcceptedWhereTheRouteIsStrict() {
        Request charge = http().post("/contract/strict");

        charge.key(charge.tag()).send().assertProblem(400, "key-invalid", false);
        assertThat(charge.runs()).isZero();

        charge.send().assertRan(201);
        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void aRequestWithoutAKeyPassesWhereNoneIsRequired() {
        Request keyless = http().keyless("/contract/optional");
        for (int i = 0; i < 2; i++) {
            Answer passed = keyless.send();
            assertThat(passed.status()).isEqualTo(201);
            assertThat(passed.replayed()).isFalse();
        }
        assertThat(keyless.runs()).isEqualTo(2);
    }

    @Test
    default void aRequestWithAKeyIsProtectedWhereNoneIsRequired() {
        Request keyed = http().post("/contract/optional");
        Answer first = keyed.send().assertRan(201);

        keyed.send().assertReplays(first);
    }

    @Test
    default void aMemberOfThePayloadIsTheKey() {
        String delivery = UUID.randomUUID().toString();
        Request webhook = http().keyless("/contract/payload").json("{\"delivery_id\": \"" + delivery + "\", \"n\": 1}");
        Answer first = webhook.send().assertRan(201);

        webhook.send().assertReplays(first);
        webhook.json("{\"delivery_id\": \"" + delivery + "\", \"n\": 2}")
                .send()
                .assertProblem(422, "key-reused", false);
        webhook.json("{\"delivery_id\": \"" + UUID.randomUUID() + "\", \"n\": 1}")
                .send()
                .assertRan(201);

        assertThat(webhook.runs()).isEqualTo(2);
    }

    @Test
    default void aPayloadWithoutTheMemberIsRefused() {
        for (String json : List.of("{}", "[]", "{\"delivery_id\": null}", "\"delivery_id\"")) {
            Request webhook = http().keyless("/contract/payload").json(json);

            assertThat(webhook.send().status()).as(json).isEqualTo(400);

            assertThat(webhook.runs()).isZero();
        }
    }

    @Test
    default void aPayloadThatIsNotJsonIsRefused() {
        Request webhook = http().keyless("/contract/payload").json("{\"delivery_id\": ");

        assertThat(webhook.send().status()).isEqualTo(400);

        assertThat(webhook.runs()).isZero();
    }

    @Test
    default void aValueOfThePathIsTheKey() {
        Request invoice = http().keyless("/contract/orders/" + UUID.randomUUID() + "/invoice");
        Answer first = invoice.send().assertRan(201);

        invoice.send().assertReplays(first);
        invoice.path("/contract/orders/" + UUID.randomUUID() + "/invoice")
                .send()
                .assertRan(201);

        assertThat(invoice.runs()).isEqualTo(2);
    }

    @Test
    default void theSameBodyIsARetryWithinTheWindow() {
        Request signup = http().keyless("/contract/signups").json("{\"mail\": \"" + UUID.randomUUID() + "\"}");
        Answer first = signup.send().assertRan(201);

        signup.send().assertReplays(first);
        Answer later = await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(200))
                .until(signup::send, answer -> !answer.replayed());

        later.assertRan(201);
        assertThat(signup.runs()).isEqualTo(2);
    }

    @Test
    default void anotherIntentIsNoRetry() {
        Request signup = http().keyless("/contract/signups").json("{\"mail\": \"" + UUID.randomUUID() + "\"}");
        signup.send().assertRan(201);

        Request again = signup.header("Idempotency-Intent", "one more");
        Answer second = again.send().assertRan(201);
        again.send().assertReplays(second);

        assertThat(signup.runs()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PATCH", "PUT"})
    default void otherMethodsAreProtectedWhereDeclared(String method) {
        Request change = http().post("/contract/charges/7").method(method);
        Answer first = change.send().assertRan(201);

        change.send().assertReplays(first);
        change.without("Idempotency-Key").send().assertProblem(400, "key-missing", false);

        assertThat(change.runs()).isEqualTo(1);
    }

    @Test
    default void theSameKeyForAnotherPathOfARouteIsRefused() {
        Request change = http().post("/contract/charges/7").method("PATCH");
        change.send().assertRan(201);

        change.path("/contract/charges/8").send().assertProblem(422, "key-reused", false);
    }

    @Test
    default void routesOfOtherScopesHaveKeysOfTheirOwn() {
        Request charge = http().post("/contract/charges");

        charge.send().assertRan(201);
        charge.path("/contract/small").send().assertRan(201);

        assertThat(charge.runs()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "DELETE"})
    default void whatIsNotDeclaredPassesUntouched(String method) {
        Request request = http().post("/contract/charges/7").method(method).header("App-Status", "200");
        Request bare = new Request(request.probe(), method, request.path(), request.headers(), new byte[0]);
        for (int i = 0; i < 2; i++) {
            Answer passed = bare.send();
            assertThat(passed.status()).isEqualTo(200);
            assertThat(passed.replayed()).isFalse();
            assertThat(passed.operationId()).isEmpty();
            assertThat(passed.body().length == 0).isEqualTo(method.equals("HEAD"));
        }
        assertThat(bare.runs()).isEqualTo(2);
    }

    @Test
    default void otherPathsPassUntouched() {
        Request note = http().post("/contract/notes");

        assertThat(note.send().status()).isEqualTo(201);
        assertThat(note.send().replayed()).isFalse();

        assertThat(note.runs()).isEqualTo(2);
    }

    @Test
    default void spellingsOfAPathAreOnePath() {
        Request charge = http().post("/contract/charges");
        Answer first = charge.send().assertRan(201);

        for (String path : List.of("/contract/charges/", "/Contract/CHARGES", "/contract/ch%61rges")) {
            charge.path(path).send().assertReplays(first);
        }
        assertThat(charge.runs()).isEqualTo(1);
    }

    @Test
    default void aMethodThatIsOverriddenIntoAProtectedOneIsRefused() {
        for (String name : List.of("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")) {
            Request hidden =
                    http().keyless("/contract/charges").method("DELETE").header(name, "POST");

            hidden.send().assertProblem(400, "request-invalid", false);

            assertThat(hidden.runs()).isZero();
        }
    }
}
