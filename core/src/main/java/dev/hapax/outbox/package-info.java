/** Messages of a transactional outbox, and the SPI of the publishers that send them to a broker. */
@NullMarked
package dev.hapax.outbox;

import org.jspecify.annotations.NullMarked;
