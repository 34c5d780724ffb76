package dev.hapax.gateway.config;

import java.util.ArrayList;
import java.util.List;

/** The page that describes every setting. */
public final class Reference {
    private Reference() {}

    /** A table of all settings, for the documentation. */
    public static String markdown() {
        List<String> lines = new ArrayList<>();
        lines.add("| setting | what to write | default | what it is |");
        lines.add("|---|---|---|---|");
        for (SettingPath path : SettingPath.all()) {
            path.setting().filter(setting -> !isTold(path)).ifPresent(setting -> lines.add(row(path, setting)));
        }
        return String.join("\n", lines) + "\n";
    }

    /** What a group has in common with one above it is told there. */
    private static boolean isTold(SettingPath path) {
        return path.text().startsWith("defaults.")
                || (path.text().startsWith("upstreams.*.") && !path.last().equals("path"));
    }

    private static String row(SettingPath path, Setting<?> setting) {
        boolean group = setting.shape() instanceof Section<?> section
                && section.shorthand().isEmpty();
        return "| `%s` | %s | %s | %s |"
                .formatted(
                        path.text(), group ? "a group" : setting.shape().expected(), fallback(setting), setting.doc());
    }

    private static String fallback(Setting<?> setting) {
        if (setting.required()) {
            return "**required**";
        }
        return setting.fallback()
                .filter(Tree.Text.class::isInstance)
                .map(tree -> "`" + ((Tree.Text) tree).text() + "`")
                .orElse("");
    }
}
