/** The gateway under load: with idempotency, without it, and the upstream alone. */
@NullMarked
package dev.hapax.bench.gateway;

import org.jspecify.annotations.NullMarked;
