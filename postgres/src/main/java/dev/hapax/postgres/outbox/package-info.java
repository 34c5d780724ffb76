/** The transactional outbox: messages that are committed with the work they tell of, and relayed to a broker. */
@NullMarked
package dev.hapax.postgres.outbox;

import org.jspecify.annotations.NullMarked;
