package dev.hapax.testkit.http;

/** What the groups of tests stand on. */
interface HttpTests {
    /** A way to the subject, over the connection that tests share. */
    Probe http();

    /** A way to the subject over a connection of its own. */
    Probe someoneElse();
}
