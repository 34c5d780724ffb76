package dev.hapax.gateway.config;

import org.jspecify.annotations.Nullable;

/** What a setting may hold, and how that becomes a value. */
sealed interface Shape<T> permits Scalar, ListOf, Section, Either {

    /** What people are told to write, such as "a duration such as 24h". */
    String expected();

    /** The value; nothing after the user was told what is wrong. */
    @Nullable
    T read(Reading reading);

    /** The same in its long form, so that what is written in different places can be put together. */
    default Tree normal(Tree tree) {
        return tree;
    }

    /** Tells that the tree is of the wrong kind. */
    default @Nullable T refuseKind(Reading reading) {
        if (reading.tree() instanceof Tree.Nothing) {
            reading.refuse(
                    "%s has no value; %s is needed, or leave the line out".formatted(reading.path(), expected()));
        } else if (!(reading.tree() instanceof Tree.Refused)) {
            reading.refuse("%s is %s; %s is needed"
                    .formatted(reading.path(), reading.tree().kind(), expected()));
        }
        return null;
    }
}
