/** The demo: a sample payments API that knows nothing about retries, behind a gateway that does. */
@NullMarked
package dev.hapax.examples;

import org.jspecify.annotations.NullMarked;
