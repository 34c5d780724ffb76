package dev.hapax.gateway.config;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A single value.
 *
 * @param expected what people are told to write
 * @param parser from text to value
 * @param shown how the text may be shown: some of it may be secret
 */
record Scalar<T>(String expected, Parser<T> parser, UnaryOperator<String> shown) implements Shape<T> {
    /** What is shown in the place of a secret. */
    static final String MASK = "********";

    /** From text to value. */
    interface Parser<T> {
        /** @throws IllegalArgumentException that says what to write instead */
        T parse(String text, Origin origin);
    }

    Scalar(String expected, Parser<T> parser) {
        this(expected, parser, UnaryOperator.identity());
    }

    /** The same, never shown. */
    Scalar<T> secret() {
        return new Scalar<>(expected, parser, text -> MASK);
    }

    Scalar<T> shownAs(UnaryOperator<String> masking) {
        return new Scalar<>(expected, parser, masking);
    }

    @Override
    public @Nullable T read(Reading reading) {
        if (!(reading.tree() instanceof Tree.Text text)) {
            return refuseKind(reading);
        }
        if (text.text().contains(MASK)) {
            reading.refuse(reading.path() + " is " + MASK + ", which stands for a secret that was not printed");
            return null;
        }
        try {
            return parser.parse(text.text(), text.origin());
        } catch (IllegalArgumentException e) {
            reading.refuse("%s is \"%s\"; %s".formatted(reading.path(), shown.apply(text.text()), e.getMessage()));
            return null;
        }
    }

    /** As it may be printed: no secret, and of a variable only its name, since nobody knows what is in it. */
    String printed(Tree.Text text) {
        if (text.written().equals(text.text())) {
            return Variables.escape(shown.apply(text.text()));
        }
        if (text.origin() instanceof Origin.InFile) {
            return Variables.isOnlyOne(text.written()) ? text.written() : shown.apply(text.written());
        }
        boolean secret = !shown.apply(text.text()).equals(text.text());
        return secret ? text.written() : Variables.escape(text.text());
    }
}
