package dev.hapax.gateway.config;

import java.util.List;
import java.util.stream.Collectors;

/** A configuration that cannot be used; {@link #mistakes()} has all that is wrong with it. */
public final class InvalidConfigurationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<Mistake> mistakes;

    InvalidConfigurationException(List<Mistake> mistakes) {
        super(mistakes.stream().map(Mistake::toString).collect(Collectors.joining("\n")));
        this.mistakes = List.copyOf(mistakes);
    }

    /** From the top of the file to its bottom, then those of environment and flags. */
    public List<Mistake> mistakes() {
        return mistakes;
    }
}
