/** What leaves a service together with its own commit: the message, and who hands it to a broker. */
@NullMarked
package dev.hapax.outbox;

import org.jspecify.annotations.NullMarked;
