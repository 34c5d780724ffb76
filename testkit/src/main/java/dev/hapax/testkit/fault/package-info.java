/** A TCP proxy that breaks connections on purpose, at points a test chooses. */
@NullMarked
package dev.hapax.testkit.fault;

import org.jspecify.annotations.NullMarked;
