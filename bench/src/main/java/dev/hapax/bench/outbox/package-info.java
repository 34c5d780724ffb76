/** The outbox beside gruelbox's transaction-outbox, on the same PostgreSQL in the same run. */
@NullMarked
package dev.hapax.bench.outbox;

import org.jspecify.annotations.NullMarked;
