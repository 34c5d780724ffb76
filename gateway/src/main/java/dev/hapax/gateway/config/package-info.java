/**
 * The gateway's configuration: a description of every setting, from which reading, hints, printing and the reference
 * page come.
 */
@NullMarked
package dev.hapax.gateway.config;

import org.jspecify.annotations.NullMarked;
