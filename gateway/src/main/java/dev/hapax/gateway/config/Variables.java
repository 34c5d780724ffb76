package dev.hapax.gateway.config;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Puts environment variables in the place of {@code ${NAME}}, mostly for secrets, which then stay out of the file. Two
 * dollar signs before the brace stand for one that is meant. Without an environment nothing is replaced.
 */
record Variables(@Nullable Map<String, String> environment) {
    static final Variables NONE = new Variables(null);

    private static final Pattern VARIABLE = Pattern.compile("\\$\\$\\{|\\$\\{([^}]*)(}?)");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** The text as it is meant, or nothing of it when a variable is not set. */
    Tree replaceIn(String written, Origin origin, Mistakes mistakes) {
        if (environment == null || !written.contains("${")) {
            return new Tree.Text(origin, written);
        }
        int before = mistakes.count();
        StringBuilder text = new StringBuilder();
        Matcher variable = VARIABLE.matcher(written);
        while (variable.find()) {
            String value = variable.group(1) == null ? "${" : valueOf(variable, origin, mistakes);
            variable.appendReplacement(text, Matcher.quoteReplacement(value));
        }
        variable.appendTail(text);
        return mistakes.count() > before ? new Tree.Refused(origin) : new Tree.Text(origin, text.toString(), written);
    }

    /** As it has to be written to mean the text itself. */
    static String escape(String text) {
        return text.replace("${", "$${");
    }

    /** Whether a text is nothing but one variable. */
    static boolean isOnlyOne(String written) {
        return written.startsWith("${")
                && written.endsWith("}")
                && NAME.matcher(written.substring(2, written.length() - 1)).matches();
    }

    private String valueOf(Matcher variable, Origin origin, Mistakes mistakes) {
        String name = variable.group(1);
        if (variable.group(2).isEmpty() || !NAME.matcher(name).matches()) {
            mistakes.add(
                    origin, "${ begins an environment variable, as in ${DB_PASSWORD}; write $${ for the characters");
            return "";
        }
        @Nullable String value = environment == null ? null : environment.get(name);
        if (value == null) {
            mistakes.add(origin, "the environment variable " + name + " is not set");
            return "";
        }
        return value;
    }
}
