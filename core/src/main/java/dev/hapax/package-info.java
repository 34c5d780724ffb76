/** Run it once, answer every retry: the entry point, policies and outcomes. */
@NullMarked
package dev.hapax;

import org.jspecify.annotations.NullMarked;
