package dev.hapax.store;

/** What became of an owner's write. */
public enum Written {
    /** It is stored; sending it again changes nothing and says the same. */
    RECORDED,
    /** The claim is no longer the sender's: nothing was changed. */
    CLAIM_LOST
}
