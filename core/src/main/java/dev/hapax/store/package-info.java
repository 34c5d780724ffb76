/** What a store is, and the values that pass between it and the engine. */
@NullMarked
package dev.hapax.store;

import org.jspecify.annotations.NullMarked;
