package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DownstreamKeyTest {
    private final World world = World.still();
    private final Hapax hapax = world.node(Policy.defaults());

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void isTheSameOnEveryAttempt() {
        String[] first = new String[1];
        assertThatThrownBy(() -> call(hapax).run(lease -> {
                    first[0] = lease.downstreamKey("bank.charge");
                    throw new IllegalStateException();
                }))
                .isNotNull();

        assertThat(key(hapax, "k-1", "bank.charge")).isEqualTo(first[0]);
    }

    /** Fixed for good: a release that changes it makes the next system run what it ran before. */
    @Test
    void isTheSameInEveryProcessAndRelease() {
        assertThat(key(hapax, "k-1", "bank.charge")).isEqualTo("ddeaf016-e53b-862e-da39-0f8f8bdc43d4");
    }

    /** A vendor that remembers longer than we do would replay its old charge. */
    @Test
    void differsForANewOperationUnderTheSameKey() {
        String first = key(hapax, "k-1", "bank.charge");
        world.clock.advance(Policy.defaults().retention());

        assertThat(key(hapax, "k-1", "bank.charge")).isNotEqualTo(first);
    }

    @Test
    void differsByName() {
        call(hapax).run(lease -> {
            assertThat(lease.downstreamKey("bank.charge")).isNotEqualTo(lease.downstreamKey("bank.refund"));
            return "receipt";
        });
    }

    @Test
    void differsByOperation() {
        assertThat(key(hapax, "k-1", "bank.charge")).isNotEqualTo(key(hapax, "k-2", "bank.charge"));
    }

    @Test
    void differsBySecret() {
        byte[] secret = "another secret".getBytes(StandardCharsets.UTF_8);
        Hapax other = Hapax.on(new dev.hapax.memory.MemoryStore())
                .scope("payments", Policy.defaults())
                .downstreamSecret(secret)
                .withoutSweeper()
                .build();
        try (other) {
            assertThat(key(other, "k-1", "bank.charge")).isNotEqualTo(key(hapax, "k-1", "bank.charge"));
        }
    }

    @Test
    void theSecretIsCopied() {
        byte[] secret = {1, 2, 3};
        Hapax before = world.node(Policy.defaults(), builder -> builder.downstreamSecret(secret.clone()));
        Hapax.Builder builder =
                Hapax.on(world.store).scope("payments", Policy.defaults()).downstreamSecret(secret);
        secret[0] = 9;
        String expected = key(before, "k-1", "bank.charge");
        world.clock.advance(Policy.defaults().retention());
        world.sweep();

        try (Hapax after = builder.withoutSweeper().build()) {
            assertThat(key(after, "k-1", "bank.charge")).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "bank.charge", "\u00e9", "a b\n"})
    void isAnIdempotencyKeyThatEveryApiAccepts(String name) {
        assertThat(key(hapax, "k-1", name)).matches("[!-~]{1,255}");
    }

    private static String key(Hapax node, String operation, String name) {
        return executed(keyed(node, operation).run(lease -> lease.downstreamKey(name)))
                .value();
    }
}
