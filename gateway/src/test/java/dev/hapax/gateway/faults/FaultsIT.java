package dev.hapax.gateway.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills every part in turn while charges are under way. Whatever dies: nothing is executed twice, everybody gets to
 * know what became of their charge, and every answer on the way there is a clear one.
 */
@Timeout(300)
class FaultsIT {
    private static final int CHARGES = Integer.getInteger("hapax.charges", 300);

    /** Besides being disconnected from a gateway that died. */
    private static final Set<String> CLEAR_ANSWERS = Set.of(
            "201",
            "409 in-progress",
            "409 in-doubt",
            "409 claim-lost",
            "503 store-unavailable",
            "503 upstream-unreachable");

    @TempDir
    Path directory;

    private interface Fault {
        void strike(Site site, Customers customers) throws Exception;
    }

    @Test
    void aGatewayKilledInTheMiddleAndStartedAgainExecutesNothingTwice() throws Exception {
        Customers all = strike(1, (site, customers) -> {
            site.killGateway(0);
            site.startGateway(0);
        });

        assertThat(all.disconnected).hasPositiveValue();
        assertThat(all.inDoubt).isNotEmpty();
    }

    @Test
    void oneOfTwoGatewaysKilledLeavesItsChargesToTheOther() throws Exception {
        Customers all = strike(2, (site, customers) -> site.killGateway(1));

        assertThat(all.disconnected).hasPositiveValue();
        assertThat(all.inDoubt).isNotEmpty();
    }

    @Test
    void aServiceKilledInTheMiddleLeavesItsChargesInDoubtAndGoesOnWithTheRest() throws Exception {
        Customers all = strike(1, (site, customers) -> {
            site.killService();
            site.startService();
        });

        assertThat(all.inDoubt).isNotEmpty();
    }

    @Test
    void aDatabaseKilledInTheMiddleRefusesMeanwhileAndForgetsNothing() throws Exception {
        Customers all = strike(1, (site, customers) -> {
            customers.kinds.remove("503 store-unavailable");
            site.postgres().kill();
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> customers.kinds.contains("503 store-unavailable"));
            site.postgres().restart();
        });

        assertThat(all.receipts).hasSizeGreaterThan(CHARGES / 2);
    }

    private Customers strike(int gateways, Fault fault) throws Exception {
        try (Site site = Site.start(directory, gateways);
                Customers customers = new Customers(site::gateway)) {
            customers.charge(CHARGES);
            for (int time = 1; time <= 2; time++) {
                int progress = time * CHARGES / 3;
                Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> customers.done.get() >= progress);
                if (time == 1 || gateways == 1) {
                    fault.strike(site, customers);
                }
            }
            customers.awaitAll();
            System.out.printf(
                    "%d charges: %d receipts (%d not recorded), %d in doubt, %d disconnections; answers %s%n",
                    CHARGES,
                    customers.receipts.size(),
                    customers.unrecorded.size(),
                    customers.inDoubt.size(),
                    customers.disconnected.get(),
                    customers.kinds);
            assertNothingTwiceAndNothingLost(site, customers);
            return customers;
        }
    }

    private static void assertNothingTwiceAndNothingLost(Site site, Customers customers) throws Exception {
        assertThat(customers.kinds).isSubsetOf(CLEAR_ANSWERS);
        assertThat(customers.receipts.size() + customers.inDoubt.size()).isEqualTo(CHARGES);
        assertThat(customers.inDoubt).hasSizeLessThan(CHARGES / 3);
        Map<String, Long> executions = site.executions();
        assertThat(executions.values()).allMatch(times -> times == 1);
        assertThat(executions.keySet()).containsAll(customers.receipts.keySet());
        for (Map.Entry<String, String> receipt : customers.receipts.entrySet()) {
            HttpResponse<String> again = customers.ask(receipt.getKey());
            if (again.statusCode() == 409) {
                assertThat(customers.unrecorded).contains(receipt.getKey());
            } else {
                assertThat(again.body()).isEqualTo(receipt.getValue());
                assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
            }
        }
        for (String key : customers.inDoubt) {
            assertThat(customers.ask(key).statusCode()).isEqualTo(409);
        }
        assertThat(site.executions()).isEqualTo(executions);
    }
}
