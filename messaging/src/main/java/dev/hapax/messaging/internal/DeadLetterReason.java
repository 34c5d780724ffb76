package dev.hapax.messaging.internal;

/** Why a message was rejected, as its dead letter says it. */
public final class DeadLetterReason {
    private static final int MAX_LENGTH = 1000;

    private DeadLetterReason() {}

    /** At most 1000 characters of it: brokers limit the size of headers, and reasons may quote whole documents. */
    public static String truncate(String reason) {
        if (reason.length() <= MAX_LENGTH) {
            return reason;
        }
        boolean splitsPair = Character.isHighSurrogate(reason.charAt(MAX_LENGTH - 1));
        return reason.substring(0, splitsPair ? MAX_LENGTH - 1 : MAX_LENGTH);
    }
}
