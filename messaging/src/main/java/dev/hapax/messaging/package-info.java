/** Consumers of messages whose effects happen once, whatever the broker: message, key, engine, disposition. */
@NullMarked
package dev.hapax.messaging;

import org.jspecify.annotations.NullMarked;
