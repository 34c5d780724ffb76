/** A {@code jakarta.servlet} filter that gives servlets the HTTP semantics: {@link HapaxFilter}. */
@NullMarked
package dev.hapax.http.servlet;

import org.jspecify.annotations.NullMarked;
