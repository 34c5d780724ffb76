/** The memory store: the reference implementation of the SPI. */
@NullMarked
package dev.hapax.memory;

import org.jspecify.annotations.NullMarked;
