/** What others do for the same promise, each behind one interface, so that the benchmark can measure them alike. */
@NullMarked
package dev.hapax.bench.peers;

import org.jspecify.annotations.NullMarked;
