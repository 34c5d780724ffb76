/** Idempotency as HTTP has it, without any server: what adapters translate in and out of. */
@NullMarked
package dev.hapax.http;

import org.jspecify.annotations.NullMarked;
