package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.keyed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.codec.Codec;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.InvalidKeyException;
import dev.hapax.store.State;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BadInputTest {
    private final World world = World.still();
    private final Hapax hapax = world.node(Policy.defaults());

    @AfterEach
    void close() {
        world.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a\u0000", "\u00e9", "\t"})
    void aKeyThatIsNotVisibleAsciiIsRefusedBeforeAnythingHappens(String key) {
        assertThatThrownBy(() -> hapax.scope("payments").key(key)).isInstanceOf(InvalidKeyException.class);
        assertThat(world.store.calls()).isZero();
    }

    @Test
    void aKeyOf255CharactersRuns() {
        assertThat(executed(keyed(hapax, "x".repeat(255)).run(lease -> "receipt"))
                        .recorded())
                .isTrue();
    }

    @Test
    void aKeyOf256CharactersIsRefused() {
        assertThatThrownBy(() -> hapax.scope("payments").key("x".repeat(256))).isInstanceOf(InvalidKeyException.class);
    }

    @Test
    void noKeyIsRefused() {
        assertThatNullPointerException()
                .isThrownBy(() -> hapax.scope("payments").key(null));
    }

    @Test
    void noTenantIsRefused() {
        assertThatNullPointerException()
                .isThrownBy(() -> hapax.scope("payments").tenant(null).key("k"))
                .withMessageContaining("tenant");
    }

    @Test
    void noScopeIsRefused() {
        assertThatNullPointerException().isThrownBy(() -> hapax.scope(null));
    }

    @Test
    void noFingerprintIsRefusedWhereItIsGiven() {
        assertThatNullPointerException().isThrownBy(() -> call(hapax).fingerprint((Fingerprint) null));
    }

    @Test
    void noCodecIsRefusedWhereItIsGiven() {
        assertThatNullPointerException().isThrownBy(() -> call(hapax).returning((Codec<String>) null));
    }

    @Test
    void noHandlerLeavesTheOperationToTheNextCall() {
        assertThatNullPointerException().isThrownBy(() -> call(hapax).run(null));
        assertThat(world.stored().map(found -> found.state())).isNotEqualTo(java.util.Optional.of(State.PROCESSING));
    }

    @Test
    void aScopeThatWasNotDeclaredIsRefusedByName() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> hapax.scope("paymnets"))
                .withMessageContaining("paymnets")
                .withMessageContaining("payments");
    }

    @Test
    void aScopeIsDeclaredOnce() {
        Hapax.Builder builder = Hapax.on(new MemoryStore()).scope("payments", Policy.defaults());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.scope("payments", Policy.job()))
                .withMessageContaining("payments");
    }

    /** A name that cannot be used is a mistake of who declares it, not of who calls later. */
    @ParameterizedTest
    @ValueSource(strings = {"", "pay ments", "paiements-\u00e9", "a\n"})
    void aScopeThatCannotNameAnOperationIsRefusedWhenItIsDeclared(String name) {
        Hapax.Builder builder = Hapax.on(new MemoryStore());

        assertThatIllegalArgumentException().isThrownBy(() -> builder.scope(name, Policy.defaults()));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void sweepingNeedsAPause(long millis) {
        Hapax.Builder builder = Hapax.on(new MemoryStore());

        assertThatIllegalArgumentException().isThrownBy(() -> builder.sweepEvery(Duration.ofMillis(millis)));
    }

    @Test
    void waitersAreNotNegative() {
        Hapax.Builder builder = Hapax.on(new MemoryStore());

        assertThatIllegalArgumentException().isThrownBy(() -> builder.maxWaiters(-1));
    }

    @Test
    void aDownstreamSecretIsNotEmpty() {
        Hapax.Builder builder = Hapax.on(new MemoryStore());

        assertThatIllegalArgumentException().isThrownBy(() -> builder.downstreamSecret(new byte[0]));
    }
}
