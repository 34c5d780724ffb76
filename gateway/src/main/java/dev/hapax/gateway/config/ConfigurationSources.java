package dev.hapax.gateway.config;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a configuration comes from: a file, above it the environment, above it flags. Collects; {@link #read} reads.
 * Not safe for use by many threads.
 *
 * <pre>{@code
 * Effective effective = new ConfigurationSources()
 *     .file(Path.of("hapax.yaml"))
 *     .environment(System.getenv())
 *     .flag("--listen", "listen", "9090")
 *     .read();
 * }</pre>
 */
public final class ConfigurationSources {
    /** What the program itself is told by, and what Kubernetes says about a service that is called hapax. */
    private static final Pattern NOT_SETTINGS = Pattern.compile(
            "HAPAX_(COLOUR|CONFIG|JAVA_OPTS|([A-Z0-9_]+_)?SERVICE_(HOST|PORT)[A-Z0-9_]*|([A-Z0-9_]+_)?PORT(_\\d+_[A-Z0-9_]+)?)");

    private record FlagValue(Origin.Flag origin, String path, String value) {}

    private final List<FlagValue> flags = new ArrayList<>();
    private final Mistakes mistakes = new Mistakes();
    private Map<String, String> environment = Map.of();

    /** What the file says; nothing when it cannot be read. */
    private Supplier<Optional<Tree>> file = () -> Optional.of(Tree.Members.NONE);

    /** The file to begin with. */
    public ConfigurationSources file(Path file) {
        this.file = () -> content(file).flatMap(text -> parsed(file.toString(), text));
        return this;
    }

    /** A file that was read already. */
    public ConfigurationSources text(String name, String yaml) {
        this.file = () -> parsed(name, yaml);
        return this;
    }

    /** For {@code HAPAX_…} variables, and for those that the file names as {@code ${…}}. */
    public ConfigurationSources environment(Map<String, String> variables) {
        this.environment = Map.copyOf(variables);
        return this;
    }

    /**
     * A setting from the command line.
     *
     * @param flag as the user knows it, for messages
     * @param setting such as {@code routes.0.retention}
     */
    public ConfigurationSources flag(String flag, String setting, String value) {
        flags.add(new FlagValue(new Origin.Flag(flag), setting, value));
        return this;
    }

    /** @throws InvalidConfigurationException with all mistakes there are */
    public Effective read() {
        Optional<Tree> fromFile = file.get();
        if (fromFile.isEmpty()) {
            throw mistakes.thrown();
        }
        Tree layered = withFlags(withEnvironment(Schema.TOP.normal(fromFile.get())));
        Tree all = RouteDefaults.fillIn(Schema.TOP.normal(layered));
        @Nullable Configuration configuration = Schema.TOP.read(new Reading("", all, mistakes));
        if (mistakes.count() > 0 || configuration == null || !(all instanceof Tree.Members members)) {
            throw mistakes.thrown();
        }
        return new Effective(configuration, members);
    }

    private Optional<Tree> parsed(String name, String text) {
        Origin start = new Origin.InFile(name, 1, 1);
        return YamlReader.file(name, text, new Variables(environment), mistakes)
                .map(tree -> tree instanceof Tree.Nothing ? new Tree.Members(start, Map.of()) : tree)
                .filter(tree -> tree instanceof Tree.Members || refused(start));
    }

    private boolean refused(Origin start) {
        mistakes.add(start, "settings are needed, such as listen: 8080");
        return false;
    }

    private Optional<String> content(Path file) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
            return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
        } catch (CharacterCodingException e) {
            refuse(file, "the file is not UTF-8");
        } catch (NoSuchFileException e) {
            refuse(
                    file,
                    "there is no such file; it was looked for at "
                            + file.toAbsolutePath().normalize());
        } catch (IOException e) {
            refuse(file, "the file cannot be read" + (Files.isDirectory(file) ? ": it is a directory" : ""));
        }
        return Optional.empty();
    }

    private void refuse(Path file, String why) {
        mistakes.add(new Origin.InFile(file.toString(), 1, 1), why);
    }

    private Tree withEnvironment(Tree tree) {
        Tree changed = tree;
        for (Map.Entry<String, String> variable : new TreeMap<>(environment).entrySet()) {
            String name = variable.getKey();
            if (name.startsWith(SettingPath.PREFIX)
                    && !NOT_SETTINGS.matcher(name).matches()) {
                Origin origin = new Origin.Environment(name);
                Optional<List<String>> setting = SettingPath.ofVariable(name);
                if (setting.isEmpty()) {
                    refuse(name, origin);
                } else {
                    String written = "${" + name + "}";
                    changed = set(changed, setting.get(), new Tree.Text(origin, variable.getValue(), written));
                }
            }
        }
        return changed;
    }

    private void refuse(String variable, Origin origin) {
        List<String> known =
                SettingPath.all().stream().map(SettingPath::variable).toList();
        String hint = Suggestions.hint(variable.replaceAll("_\\d+(?=_|$)", "_*"), known);
        mistakes.add(origin, "there is no setting for this environment variable" + hint);
    }

    private Tree withFlags(Tree tree) {
        Tree changed = tree;
        for (FlagValue flag : flags) {
            List<String> setting = List.of(flag.path().split("\\.", -1));
            changed = set(changed, setting, new Tree.Text(flag.origin(), flag.value()));
        }
        return changed;
    }

    private Tree set(Tree tree, List<String> setting, Tree.Text text) {
        Tree value = text.text().isEmpty() ? new Tree.Nothing(text.origin()) : groupOrText(setting, text);
        return Layers.set(Schema.TOP, tree, setting, value, mistakes);
    }

    /** A group or list is written in YAML's short form; all else is taken as it is, passwords above all. */
    private Tree groupOrText(List<String> setting, Tree.Text text) {
        boolean braces = text.text().startsWith("{") || text.text().startsWith("[");
        if (!braces
                || SettingPath.at(setting)
                        .map(Setting::shape)
                        .filter(shape -> shape instanceof Scalar)
                        .isPresent()) {
            return text;
        }
        return YamlReader.text(text.origin(), text.text(), mistakes).orElse(new Tree.Refused(text.origin()));
    }
}
