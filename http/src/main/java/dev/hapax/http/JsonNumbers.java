package dev.hapax.http;

/**
 * Numbers of JSON by their exact value: {@code 1}, {@code 1.0} and {@code 1e0} are one, and no digit is ever lost.
 * Works on the digits as they stand, so that an exponent costs nothing however large it is.
 */
final class JsonNumbers {
    private static final int MAX_EXPONENT_DIGITS = 9;

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
        int exponentAt = from;
        while (exponentAt < end && text[exponentAt] != 'e' && text[exponentAt] != 'E') {
            exponentAt++;
        }
        StringBuilder digits = new StringBuilder(count);
        int decimals = digits(text, from, exponentAt, digits);
        long exponent = exponentAt == end ? 0 : exponent(text, exponentAt + 1, end);
        if (exponent == Long.MIN_VALUE) {
            return false;
        }
        out.putText(canonical(text[from] == '-', digits, exponent - decimals));
        return true;
    }

    /** @return how many of the digits stand behind the point */
    private static int digits(char[] text, int from, int to, StringBuilder digits) {
        int point = -1;
        for (int i = from; i < to; i++) {
            char c = text[i];
            if (c == '.') {
                point = i;
            } else if (c != '-' && (c != '0' || !digits.isEmpty())) {
                digits.append(c);
            }
        }
        return point < 0 ? 0 : to - point - 1;
    }

    private static long exponent(char[] text, int from, int end) {
        boolean negative = text[from] == '-';
        int at = negative || text[from] == '+' ? from + 1 : from;
        while (at < end - 1 && text[at] == '0') {
            at++;
        }
        if (end - at > MAX_EXPONENT_DIGITS) {
            return Long.MIN_VALUE;
        }
        long exponent = 0;
        while (at < end) {
            exponent = 10 * exponent + (text[at++] - '0');
        }
        return negative ? -exponent : exponent;
    }

    private static CharSequence canonical(boolean negative, StringBuilder digits, long exponent) {
        int last = digits.length();
        while (last > 0 && digits.charAt(last - 1) == '0') {
            last--;
        }
        if (last == 0) {
            return "0";
        }
        int zeros = digits.length() - last;
        digits.setLength(last);
        if (negative) {
            digits.insert(0, '-');
        }
        return digits.append('e').append(exponent + zeros);
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
