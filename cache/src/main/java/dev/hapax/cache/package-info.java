/** Fronts for stores: what has ended is answered without asking the store again. */
@NullMarked
package dev.hapax.cache;

import org.jspecify.annotations.NullMarked;
