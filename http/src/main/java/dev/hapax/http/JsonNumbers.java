package dev.hapax.http;

/**
 * Numbers of JSON by their exact value: {@code 1}, {@code 1.0} and {@code 1e0} are one, and no digit is ever lost.
 * Works on the digits as they stand, so that an exponent costs nothing however large it is.
 */
final class JsonNumbers {
    private static final int MAX_EXPONENT_DIGITS = 9;
    private static final int MAX_EXPONENT_LENGTH = "e-9999999999".length();
    private static final long TOO_LARGE = Long.MIN_VALUE;
    private static final char[] ZERO = {'0'};

    /** Beyond this many zeros, a number is easier to read with an exponent. */
    private static final int MAX_ZEROS = 20;

    private JsonNumbers() {}

    /**
     * Writes a valid number as its digits without zeros on either side, {@code e} and the exponent; zero is {@code 0}.
     *
     * @return whether the number is within the limits
     */
    static boolean write(char[] text, int from, int count, Bytes out) {
        if (count > Json.MAX_NUMBER_LENGTH) {
            return false;
        }
        int end = from + count;
        int exponentAt = exponentAt(text, from, end);
        long exponent = exponentAt == end ? 0 : exponent(text, exponentAt + 1, end);
        if (exponent == TOO_LARGE) {
            return false;
        }
        char[] canonical = new char[count + MAX_EXPONENT_LENGTH];
        boolean negative = text[from] == '-';
        int digits = negative ? 1 : 0;
        int length = digits;
        boolean point = false;
        for (int i = from; i < exponentAt; i++) {
            char c = text[i];
            if (c == '.') {
                point = true;
            } else if (c != '-') {
                exponent -= point ? 1 : 0;
                if (c != '0' || length > digits) {
                    canonical[length++] = c;
                }
            }
        }
        while (length > digits && canonical[length - 1] == '0') {
            length--;
            exponent++;
        }
        if (length == digits) {
            out.putText(ZERO, 0, 1);
            return true;
        }
        if (negative) {
            canonical[0] = '-';
        }
        String power = Long.toString(exponent);
        canonical[length++] = 'e';
        power.getChars(0, power.length(), canonical, length);
        out.putText(canonical, 0, length + power.length());
        return true;
    }

    private static int exponentAt(char[] text, int from, int end) {
        int at = from;
        while (at < end && text[at] != 'e' && text[at] != 'E') {
            at++;
        }
        return at;
    }

    private static long exponent(char[] text, int from, int end) {
        boolean negative = text[from] == '-';
        int at = negative || text[from] == '+' ? from + 1 : from;
        while (at < end - 1 && text[at] == '0') {
            at++;
        }
        if (end - at > MAX_EXPONENT_DIGITS) {
            return TOO_LARGE;
        }
        long exponent = 0;
        while (at < end) {
            exponent = 10 * exponent + (text[at++] - '0');
        }
        return negative ? -exponent : exponent;
    }

    /** The usual notation of what {@link #write} wrote, without an exponent unless it takes many zeros. */
    static String plain(String canonical) {
        int e = canonical.indexOf('e');
        if (e < 0) {
            return canonical;
        }
        String sign = canonical.startsWith("-") ? "-" : "";
        String digits = canonical.substring(sign.length(), e);
        long exponent = Long.parseLong(canonical.substring(e + 1));
        long beforePoint = digits.length() + exponent;
        if (exponent > MAX_ZEROS || beforePoint < -MAX_ZEROS) {
            return canonical;
        } else if (exponent >= 0) {
            return sign + digits + "0".repeat((int) exponent);
        } else if (beforePoint > 0) {
            return sign + digits.substring(0, (int) beforePoint) + '.' + digits.substring((int) beforePoint);
        }
        return sign + "0." + "0".repeat((int) -beforePoint) + digits;
    }
}
