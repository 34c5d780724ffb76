package dev.hapax.codec;

import org.jspecify.annotations.Nullable;

final class StandardCodecs implements Codecs {
    static final StandardCodecs INSTANCE = new StandardCodecs();

    private final @Nullable Codecs json = jacksonIsPresent() ? new JacksonCodecs() : null;

    @Override
    @SuppressWarnings("unchecked") // the codec was chosen by the type
    public <T> Codec<T> codecFor(Class<T> type) {
        if (type == byte[].class) {
            return (Codec<T>) Codec.bytes();
        } else if (type == String.class) {
            return (Codec<T>) Codec.text();
        } else if (type == Void.class) {
            return (Codec<T>) Codec.nothing();
        } else if (json != null) {
            return json.codecFor(type);
        }
        throw new IllegalArgumentException(
                "no codec for %s: put jackson-databind on the class path, or call returning(Codec) with one of your own"
                        .formatted(type.getName()));
    }

    @Override
    public <T> Codec<T> codecFor(ResultType<T> type) {
        if (json != null) {
            return json.codecFor(type);
        }
        throw new IllegalArgumentException(
                "no codec for %s: put jackson-databind on the class path, or call returning(Codec) with one of your own"
                        .formatted(type.type()));
    }

    private static boolean jacksonIsPresent() {
        try {
            Class.forName("com.fasterxml.jackson.databind.ObjectMapper");
            return true;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }
}
