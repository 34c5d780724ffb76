package dev.hapax.postgres;

/** How long a batch waits for a row that another transaction has locked. */
enum LockWait {
    /** As long as {@code lockTimeout} says. */
    SHORT,
    /** Not at all: an earlier attempt has waited. */
    NONE
}
