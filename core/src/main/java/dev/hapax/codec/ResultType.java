package dev.hapax.codec;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/**
 * A type with its parameters, which a {@code Class} cannot name: {@code new ResultType<List<Line>>() {}}.
 *
 * @param <T> the type
 */
public abstract class ResultType<T> {
    private final Type type;

    /** @throws IllegalStateException unless the subclass names the type */
    protected ResultType() {
        if (!(getClass().getGenericSuperclass() instanceof ParameterizedType named)) {
            throw new IllegalStateException("name the type, as in new ResultType<List<Line>>() {}");
        }
        this.type = named.getActualTypeArguments()[0];
    }

    public final Type type() {
        return type;
    }
}
