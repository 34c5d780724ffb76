/** A real PostgreSQL server as a child process, from binaries in a jar. */
@NullMarked
package dev.hapax.embedded.postgres;

import org.jspecify.annotations.NullMarked;
