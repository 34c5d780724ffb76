/** What every store must pass. */
@NullMarked
package dev.hapax.testkit;

import org.jspecify.annotations.NullMarked;
