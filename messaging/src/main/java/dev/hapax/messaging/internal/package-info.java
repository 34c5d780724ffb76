/** What the adapters of all brokers share. Not part of the public API: it may change in any version. */
@NullMarked
package dev.hapax.messaging.internal;

import org.jspecify.annotations.NullMarked;
