package dev.hapax.store;

/**
 * Something that stands in front of stores, such as a cache. One that is found as a service
 * ({@link java.util.ServiceLoader}) stands in front of every store that is used, unless it is switched off.
 */
public interface StoreFront {
    /** The store with this in front of it, or the store itself if that has it already. */
    Store before(Store store);
}
