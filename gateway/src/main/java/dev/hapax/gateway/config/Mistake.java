package dev.hapax.gateway.config;

/**
 * Something in the configuration that has to be changed.
 *
 * @param what is wrong, and what to do
 */
public record Mistake(Origin at, String what) {
    @Override
    public String toString() {
        return at + ": " + what;
    }
}
