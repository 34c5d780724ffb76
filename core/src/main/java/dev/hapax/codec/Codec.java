package dev.hapax.codec;

import dev.hapax.store.Payload;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

/**
 * Turns results into the bytes that are stored, and stored bytes back into results. Safe for use by many threads.
 *
 * <p>A codec that cannot encode a result does not undo the operation: it is recorded as done, without its result. A
 * codec that cannot decode one leaves the record as it is.
 */
public interface Codec<T> {

    Payload encode(T value) throws Exception;

    T decode(Payload payload) throws Exception;

    /** A codec for another type, by way of this one's. */
    default <R> Codec<R> map(Function<? super R, ? extends T> to, Function<? super T, ? extends R> from) {
        Codec<T> via = this;
        return new Codec<>() {
            @Override
            public Payload encode(R value) throws Exception {
                return via.encode(to.apply(value));
            }

            @Override
            public R decode(Payload payload) throws Exception {
                return from.apply(via.decode(payload));
            }
        };
    }

    static Codec<byte[]> bytes() {
        return BasicCodecs.BYTES;
    }

    /** Text as UTF-8; half a surrogate pair cannot be encoded. */
    static Codec<String> text() {
        return BasicCodecs.TEXT;
    }

    /** For operations that have no result: always {@code null}. */
    static Codec<Void> nothing() {
        return BasicCodecs.NOTHING;
    }
}

final class BasicCodecs {
    private BasicCodecs() {}

    static final Codec<byte[]> BYTES = new Codec<>() {
        @Override
        public Payload encode(byte[] value) {
            return Payload.of(value.clone());
        }

        @Override
        public byte[] decode(Payload payload) {
            return payload.body().clone();
        }
    };

    static final Codec<String> TEXT = new Codec<>() {
        @Override
        public Payload encode(String value) throws CharacterCodingException {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
            byte[] body = new byte[bytes.remaining()];
            bytes.get(body);
            return Payload.of(body);
        }

        @Override
        public String decode(Payload payload) {
            return new String(payload.body(), StandardCharsets.UTF_8);
        }
    };

    static final Codec<Void> NOTHING = new Codec<>() {
        @Override
        public Payload encode(Void value) {
            return Payload.of(new byte[0]);
        }

        @Override
        @SuppressWarnings("NullAway") // null is the only value of Void
        public Void decode(Payload payload) {
            return null;
        }
    };
}
