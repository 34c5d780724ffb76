/** What many concurrent callers saw, and whether a correct store could have shown it to them. */
@NullMarked
package dev.hapax.testkit.history;

import org.jspecify.annotations.NullMarked;
