package dev.hapax.messaging.sqs;

/** What SQS takes as text: the characters of XML 1.0, and at least one of them. */
final class SqsText {
    private SqsText() {}

    static boolean isText(String text) {
        return !text.isEmpty() && text.codePoints().allMatch(SqsText::isAllowed);
    }

    /** The same with a question mark for what SQS does not take. */
    static String replaced(String text) {
        StringBuilder replaced = new StringBuilder();
        text.codePoints().map(c -> isAllowed(c) ? c : '?').forEach(replaced::appendCodePoint);
        return replaced.isEmpty() ? "?" : replaced.toString();
    }

    private static boolean isAllowed(int c) {
        return c == '\t'
                || c == '\n'
                || c == '\r'
                || (c >= 0x20 && c <= 0xD7FF)
                || (c >= 0xE000 && c <= 0xFFFD)
                || c >= 0x10000;
    }
}
