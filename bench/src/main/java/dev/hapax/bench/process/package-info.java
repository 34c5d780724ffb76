/** Processes of their own, for what must not share a JVM. */
@NullMarked
package dev.hapax.bench.process;

import org.jspecify.annotations.NullMarked;
