package dev.hapax;

import dev.hapax.codec.Codec;
import dev.hapax.store.Payload;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The types of terminal failure that are kept as what they are. Immutable. A payload's headers name the type, its body
 * is what the type's codec made of the failure.
 */
final class FailureCodecs {
    static final FailureCodecs NONE = new FailureCodecs(Map.of());

    private final Map<String, Codec<? extends TerminalFailure>> byType;

    private FailureCodecs(Map<String, Codec<? extends TerminalFailure>> byType) {
        this.byType = Map.copyOf(byType);
    }

    <F extends TerminalFailure> FailureCodecs with(Class<F> type, Codec<F> codec) {
        Map<String, Codec<? extends TerminalFailure>> more = new HashMap<>(byType);
        more.put(type.getName(), codec);
        return new FailureCodecs(more);
    }

    /** @return {@code null} when the failure's type was not declared */
    @Nullable
    Payload encode(TerminalFailure failure) throws Exception {
        String type = failure.getClass().getName();
        Codec<? extends TerminalFailure> codec = byType.get(type);
        if (codec == null) {
            return null;
        }
        Payload encoded = encode(codec, failure);
        byte[] name = type.getBytes(StandardCharsets.UTF_8);
        byte[] headers = ByteBuffer.allocate(Short.BYTES + name.length + encoded.headers().length)
                .putShort((short) name.length)
                .put(name)
                .put(encoded.headers())
                .array();
        return new Payload(failure.code(), headers, encoded.body());
    }

    @SuppressWarnings("unchecked") // the codec was found by the failure's own class
    private static <F extends TerminalFailure> Payload encode(Codec<F> codec, TerminalFailure failure)
            throws Exception {
        return codec.encode((F) failure);
    }

    /** @return {@code null} when there is nothing to decode, or its type is not declared */
    @Nullable
    TerminalFailure decode(@Nullable Payload payload) throws Exception {
        if (payload == null) {
            return null;
        }
        ByteBuffer headers = ByteBuffer.wrap(payload.headers());
        byte[] name = new byte[headers.getShort()];
        headers.get(name);
        byte[] own = new byte[headers.remaining()];
        headers.get(own);
        Codec<? extends TerminalFailure> codec = byType.get(new String(name, StandardCharsets.UTF_8));
        return codec == null ? null : codec.decode(new Payload(payload.code(), own, payload.body()));
    }
}
