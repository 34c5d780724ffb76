package dev.hapax.codec;

/** Finds the codec for a type. Safe for use by many threads. */
@FunctionalInterface
public interface Codecs {

    /** @throws IllegalArgumentException when there is none, saying what to do */
    <T> Codec<T> codecFor(Class<T> type);

    /**
     * For types with parameters.
     *
     * @throws IllegalArgumentException when there is none, saying what to do
     */
    default <T> Codec<T> codecFor(ResultType<T> type) {
        throw new IllegalArgumentException(
                "%s has no codec for %s: use JacksonCodecs, or call returning(Codec) with one of your own"
                        .formatted(getClass().getName(), type.type()));
    }

    /** Bytes, text and nothing; every other type as JSON where Jackson is on the class path. */
    static Codecs standard() {
        return StandardCodecs.INSTANCE;
    }
}
