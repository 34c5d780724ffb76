/** What single steps cost, in time and in garbage, without any database. */
@NullMarked
package dev.hapax.bench.micro;

import org.jspecify.annotations.NullMarked;
