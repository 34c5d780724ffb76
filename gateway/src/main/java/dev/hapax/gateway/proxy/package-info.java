/** The reverse proxy: HTTP in, HTTP out, and between them the semantics of {@code dev.hapax.http}. */
@NullMarked
package dev.hapax.gateway.proxy;

import org.jspecify.annotations.NullMarked;
