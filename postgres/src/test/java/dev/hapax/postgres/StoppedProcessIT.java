package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.Outcome;
import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.testkit.ChildJvm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class StoppedProcessIT {
    private static final Duration LEASE = Duration.ofSeconds(1);

    private final TestDatabase database = TestDatabase.migrated();

    @Test
    void aProcessStoppedPastItsLeaseIsRefusedEverythingWhenItGoesOn() throws Exception {
        try (ChildJvm zombie = ChildJvm.start(Zombie.class, List.of(database.jdbcUrl(), LEASE.toString()));
                HikariDataSource pool = database.pool(4);
                Hapax hapax = hapax(pool)) {
            assertThat(zombie.awaitLine("running")).isEqualTo("running attempt 1");
            zombie.signal("STOP");

            Outcome<byte[]> successor =
                    hapax.scope("zombie").key("one").run(lease -> "alive".getBytes(StandardCharsets.UTF_8));
            assertThat(successor)
                    .isInstanceOfSatisfying(
                            Outcome.Executed.class,
                            executed -> assertThat(executed.attempt()).isEqualTo(2));

            zombie.signal("CONT");
            zombie.say("go on");
            assertThat(zombie.awaitLine("renew")).isEqualTo("renew CLAIM_LOST");
            assertThat(zombie.awaitLine("release")).isEqualTo("release CLAIM_LOST");
            assertThat(zombie.awaitLine("signal")).isEqualTo("signal lost");
            assertThat(zombie.awaitLine("finish")).isEqualTo("finish CLAIM_LOST of attempt 1");
            assertThat(hapax.scope("zombie").key("one").run(lease -> new byte[0]))
                    .isInstanceOfSatisfying(
                            Outcome.Replayed.class,
                            replayed -> assertThat((byte[]) replayed.value())
                                    .asString()
                                    .isEqualTo("alive"));
        }
    }

    private static Hapax hapax(HikariDataSource pool) {
        Policy patient = Policy.defaults().lease(LEASE).whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(1)));
        return Hapax.on(PostgresStore.over(pool))
                .scope("zombie", patient)
                .withoutSweeper()
                .build();
    }
}
