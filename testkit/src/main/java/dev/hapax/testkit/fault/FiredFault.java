package dev.hapax.testkit.fault;

/**
 * An armed fault of a {@link FaultProxy} that has run its course: the client's connection is gone.
 *
 * @param kind what was done to the request
 * @param swallowed how many bytes of the answer the client never saw. Zero for a lost answer means that the server said
 *     nothing before it hung up or the proxy's patience ended: it may not have processed the request.
 */
public record FiredFault(Kind kind, long swallowed) {

    /** What an armed fault does. */
    public enum Kind {
        /** The request reached the server, its answer did not reach the client. */
        ANSWER_LOST,
        /** The request did not reach the server. */
        REQUEST_DROPPED
    }
}
