package dev.hapax.gateway.config;

import java.util.Optional;

/**
 * A setting, as users see it.
 *
 * @param fallback what counts when it is not set, as one would write it
 * @param required whether it must be set
 * @param doc one sentence for the reference
 */
record Setting<T>(String name, Shape<T> shape, Optional<Tree> fallback, boolean required, String doc) {

    static <T> Setting<T> of(String name, Shape<T> shape, String fallback, String doc) {
        Tree text = new Tree.Text(new Origin.BuiltIn(), fallback);
        return new Setting<>(name, shape, Optional.of(shape.normal(text)), false, doc);
    }

    static <T> Setting<T> required(String name, Shape<T> shape, String doc) {
        return new Setting<>(name, shape, Optional.empty(), true, doc);
    }

    static <T> Setting<T> optional(String name, Shape<T> shape, String doc) {
        return new Setting<>(name, shape, Optional.empty(), false, doc);
    }

    /** A group of settings that all have defaults. */
    static <T> Setting<T> group(String name, Section<T> section, String doc) {
        return new Setting<>(name, section, Optional.of(Tree.Members.NONE), false, doc);
    }
}
