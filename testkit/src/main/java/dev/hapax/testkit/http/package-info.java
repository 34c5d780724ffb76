/** What an HTTP adapter must pass, over real sockets: {@link dev.hapax.testkit.http.HttpContract} and company. */
@NullMarked
package dev.hapax.testkit.http;

import org.jspecify.annotations.NullMarked;
