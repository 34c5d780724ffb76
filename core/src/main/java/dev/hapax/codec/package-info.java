/** How typed results become bytes and come back. */
@NullMarked
package dev.hapax.codec;

import org.jspecify.annotations.NullMarked;
