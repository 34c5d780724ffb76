package dev.hapax.gateway.config;

import org.jspecify.annotations.Nullable;

/** A short text or, where more has to be said, a group of settings. */
record Either<T>(Scalar<T> text, Section<T> section) implements Shape<T> {
    @Override
    public String expected() {
        return text.expected();
    }

    @Override
    public @Nullable T read(Reading reading) {
        if (reading.tree() instanceof Tree.Members) {
            return section.read(reading);
        }
        return text.read(reading);
    }
}
