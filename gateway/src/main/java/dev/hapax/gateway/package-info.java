/** The {@code hapax} program: its command line, and how a gateway is put together from a configuration. */
@NullMarked
package dev.hapax.gateway;

import org.jspecify.annotations.NullMarked;
