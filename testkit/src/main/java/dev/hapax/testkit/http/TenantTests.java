package dev.hapax.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.http.Probe.Request;
import org.junit.jupiter.api.Test;

/** Nobody sees what belongs to another tenant. */
@SuppressWarnings("JUnit4TestNotRun") // JUnit Jupiter
interface TenantTests extends HttpTests {

    @Test
    default void theSameKeyOfAnotherTenantIsAnotherOperation() {
        Request charge = http().post("/contract/charges");
        Request ann = charge.header("Authorization", "Bearer ann");
        Request bob = charge.header("Authorization", "Bearer bob");

        Answer anns = ann.send().assertRan(201);
        Answer bobs = bob.send().assertRan(201);
        Answer nobodys = charge.send().assertRan(201);

        assertThat(charge.runs()).isEqualTo(3);
        assertThat(anns.operationId()).isNotEqualTo(bobs.operationId()).isNotEqualTo(nobodys.operationId());
        ann.send().assertReplays(anns);
        bob.send().assertReplays(bobs);
        charge.send().assertReplays(nobodys);
        assertThat(anns.text()).isNotEqualTo(bobs.text());
    }

    @Test
    default void anotherTenantsRequestIsNotEvenComparedWith() {
        Request charge = http().post("/contract/charges");
        charge.header("Authorization", "Bearer ann").send().assertRan(201);

        charge.header("Authorization", "Bearer bob")
                .json("{\"amount\": 1}")
                .send()
                .assertRan(201);
    }

    @Test
    default void theStatusOfAnOperationIsForItsOwnTenant() {
        Request charge = http().post("/contract/charges").header("Authorization", "Bearer ann");
        Request status = http().get("/.hapax/operations/" + charge.send().operationId());

        assertThat(status.header("Authorization", "Bearer ann").send().status()).isEqualTo(200);
        status.header("Authorization", "Bearer bob").send().assertProblem(404, "not-found", false);
        status.send().assertProblem(404, "not-found", false);
    }
}
