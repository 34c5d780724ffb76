/** Programs that show what Hapax does. */
@NullMarked
package dev.hapax.examples;

import org.jspecify.annotations.NullMarked;
