/** Explores what the engine promises: many instances, one thread, simulated time, and every fault at any moment. */
@NullMarked
package dev.hapax.testkit.simulation;

import org.jspecify.annotations.NullMarked;
