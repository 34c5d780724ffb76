package dev.hapax.postgres;

import dev.hapax.ClaimLostException;
import dev.hapax.Hapax;
import dev.hapax.Lease;
import dev.hapax.Policy;
import dev.hapax.store.Release;
import dev.hapax.store.Renewal;
import dev.hapax.store.RenewalStatus;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** Owns one operation, and tells what becomes of its writes when it is told to go on. */
final class Zombie {
    private Zombie() {}

    public static void main(String[] args) throws Exception {
        Duration lease = Duration.parse(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PostgresStore store = PostgresStore.over(TestDatabase.pool(args[0], 4));
        Hapax hapax = Hapax.on(store)
                .scope("zombie", Policy.defaults().lease(lease))
                .withoutSweeper()
                .build();
        try {
            hapax.scope("zombie").key("one").run(owner -> {
                System.out.println("running attempt " + owner.attempt());
                in.readLine();
                tryToHoldOn(store, owner, lease);
                return "from the grave".getBytes(StandardCharsets.UTF_8);
            });
            System.out.println("finish RECORDED");
        } catch (ClaimLostException e) {
            System.out.println("finish CLAIM_LOST of attempt " + e.attempt());
        }
        System.exit(0);
    }

    private static void tryToHoldOn(PostgresStore store, Lease owner, Duration lease) throws IOException {
        boolean lost = store.renew(List.of(new Renewal(owner.operationId(), owner.token(), lease)))
                .toCompletableFuture()
                .join()
                .contains(RenewalStatus.LOST);
        System.out.println("renew " + (lost ? "CLAIM_LOST" : "RECORDED"));
        System.out.println("release "
                + store.release(new Release(
                                owner.operationId(), owner.token(), Release.Kind.TRY_AGAIN, lease, "from the grave"))
                        .toCompletableFuture()
                        .join());
        owner.lost().toCompletableFuture().join();
        System.out.println("signal lost");
    }
}
