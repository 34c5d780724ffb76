/** Operations in PostgreSQL: the store, its schema, transactional mode, and what operators need. */
@NullMarked
package dev.hapax.postgres;

import org.jspecify.annotations.NullMarked;
