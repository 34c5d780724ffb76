/** What the store and the outbox share. Not part of the API. */
@NullMarked
package dev.hapax.postgres.internal;

import org.jspecify.annotations.NullMarked;
