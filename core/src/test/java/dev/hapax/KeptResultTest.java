package dev.hapax;

import static dev.hapax.World.call;
import static dev.hapax.World.executed;
import static dev.hapax.World.mustNotRun;
import static dev.hapax.World.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import dev.hapax.codec.Codec;
import dev.hapax.store.Payload;
import dev.hapax.store.State;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of results that cannot be kept, or not be read. Nothing here runs an operation twice. */
class KeptResultTest {
    private final World world = World.still();
    private final Hapax hapax = world.node(Policy.defaults().maxBody(4));

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aResultOfTheLargestSizeIsKept() {
        call(hapax).run(lease -> "1234");

        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("1234");
    }

    /** Trap 11. */
    @Test
    void aResultThatIsTooLargeLeavesATombstone() {
        assertThat(executed(call(hapax).run(lease -> "12345")).value()).isEqualTo("12345");

        Outcome.Replayed<String> replay = replayed(call(hapax).run(mustNotRun()));
        assertThatThrownBy(replay::value).isInstanceOf(ResultNotStoredException.class);
    }

    @Test
    void aTombstoneKeepsTheCode() {
        Call<String> created = call(hapax).returning(encodingTo(new Payload(201, new byte[0], new byte[5])));
        created.run(lease -> "12345");

        Outcome.Replayed<String> replay = replayed(created.run(mustNotRun()));
        assertThatThrownBy(replay::value)
                .asInstanceOf(type(ResultNotStoredException.class))
                .extracting(ResultNotStoredException::code)
                .isEqualTo(201);
    }

    @Test
    void aTombstoneIsRecorded() {
        assertThat(executed(call(hapax).run(lease -> "12345")).recorded()).isTrue();
        assertThat(world.state()).isEqualTo(State.COMPLETED);
        assertThat(world.heard.events()).containsExactly("claimed 1", "resultNotStored 1", "completed 1");
    }

    @Test
    void theCallerGetsAValueThatCannotBeEncoded() {
        assertThat(executed(call(hapax).returning(notEncoding()).run(lease -> "v"))
                        .value())
                .isEqualTo("v");
    }

    @Test
    void aValueThatCannotBeEncodedLeavesATombstone() {
        Call<String> call = call(hapax).returning(notEncoding());
        call.run(lease -> "v");

        Outcome.Replayed<String> replay = replayed(call.run(mustNotRun()));
        assertThatThrownBy(replay::value)
                .isInstanceOf(ResultNotStoredException.class)
                .hasMessageContaining("out of ink");
    }

    @Test
    void nullThatTheCodecCannotEncodeLeavesATombstone() {
        assertThat(executed(call(hapax).run(lease -> null)).recorded()).isTrue();

        assertThat(world.stored().orElseThrow().result().payload()).isNull();
    }

    @Test
    void aResultThatCannotBeReadIsSaidSo() {
        call(hapax).run(lease -> "v");

        assertThatThrownBy(() -> call(hapax).returning(notEncoding()).run(mustNotRun()))
                .isInstanceOf(ResultNotReadableException.class)
                .hasCauseInstanceOf(IOException.class);
    }

    @Test
    void aResultThatCouldNotBeReadIsStillThere() {
        call(hapax).run(lease -> "v");
        whateverComes(() -> call(hapax).returning(notEncoding()).run(mustNotRun()));

        assertThat(replayed(call(hapax).run(mustNotRun())).value()).isEqualTo("v");
    }

    /** The work is done: it is recorded as done, whatever the codec does. */
    @Test
    void aCodecThatThrowsAnErrorLeavesATombstone() {
        Codec<String> broken = new TestCodec() {
            @Override
            public Payload encode(String value) {
                throw new NoClassDefFoundError("com/example/Missing");
            }
        };
        whateverComes(() -> call(hapax).returning(broken).run(lease -> "v"));

        assertThat(world.state()).isEqualTo(State.COMPLETED);
    }

    @Test
    void aCodecThatMakesAPayloadWithoutABodyLeavesATombstone() {
        Codec<String> bodiless = new Codec<>() {
            @Override
            public Payload encode(String value) {
                return new Payload(204, new byte[0], null);
            }

            @Override
            public String decode(Payload payload) {
                return "";
            }
        };
        whateverComes(() -> call(hapax).returning(bodiless).run(lease -> "v"));

        assertThat(world.state()).isEqualTo(State.COMPLETED);
    }

    @Test
    void aCodecThatReturnsNothingLeavesATombstone() {
        whateverComes(() -> call(hapax).returning(encodingTo(null)).run(lease -> "v"));

        assertThat(world.state()).isEqualTo(State.COMPLETED);
    }

    @Test
    void aCodecThatThrowsAnErrorLeavesATombstoneForAnAsyncHandlerToo() {
        var outcome = call(hapax)
                .returning(encodingTo(null))
                .runAsync(lease -> java.util.concurrent.CompletableFuture.completedFuture("v"))
                .toCompletableFuture();
        await().until(outcome::isDone);

        assertThat(world.state()).isEqualTo(State.COMPLETED);
    }

    private static void whateverComes(ThrowingCallable call) {
        var unused = catchThrowable(call);
    }

    private static Codec<String> notEncoding() {
        return new TestCodec() {
            @Override
            public Payload encode(String value) throws IOException {
                throw new IOException("out of ink");
            }

            @Override
            public String decode(Payload payload) throws IOException {
                throw new IOException("cannot read");
            }
        };
    }

    private static Codec<String> encodingTo(Payload payload) {
        return new TestCodec() {
            @Override
            public Payload encode(String value) {
                return payload;
            }
        };
    }

    private abstract static class TestCodec implements Codec<String> {
        @Override
        public String decode(Payload payload) throws Exception {
            return new String(payload.body(), StandardCharsets.UTF_8);
        }
    }
}
