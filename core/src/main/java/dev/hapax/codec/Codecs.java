package dev.hapax.codec;

/** Finds the codec for a type. Safe for use by many threads. */
@FunctionalInterface
public interface Codecs {

    /** @throws IllegalArgumentException when there is none, saying what to do */
    <T> Codec<T> codecFor(Class<T> type);

    /** Bytes, text and nothing; every other type as JSON where Jackson is on the class path. */
    static Codecs standard() {
        return StandardCodecs.INSTANCE;
    }
}
