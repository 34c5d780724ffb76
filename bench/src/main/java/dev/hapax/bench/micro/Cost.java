package dev.hapax.bench.micro;

/**
 * What one step costs a single thread.
 *
 * @param bytes of garbage
 */
public record Cost(String name, double nanos, double bytes) {

    /** What this costs beyond the other. */
    public Cost beyond(Cost other, String name) {
        return new Cost(name, nanos - other.nanos, bytes - other.bytes);
    }
}
