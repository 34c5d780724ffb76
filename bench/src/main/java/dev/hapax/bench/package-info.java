/** What Hapax costs beside hand-written JDBC, as ratios from one run. */
@NullMarked
package dev.hapax.bench;

import org.jspecify.annotations.NullMarked;
