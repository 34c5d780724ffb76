/** An order service, an outbox relay and a mail service: one charge over HTTP comes to one mail, whatever breaks. */
@NullMarked
package dev.hapax.examples.orders;

import org.jspecify.annotations.NullMarked;
