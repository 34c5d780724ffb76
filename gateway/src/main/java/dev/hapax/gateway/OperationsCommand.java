package dev.hapax.gateway;

import dev.hapax.gateway.config.Configuration;
import dev.hapax.gateway.config.InvalidConfigurationException;
import dev.hapax.gateway.config.Words;
import dev.hapax.http.Headers;
import dev.hapax.http.HttpResponse;
import dev.hapax.store.OperationId;
import dev.hapax.store.Snapshot;
import dev.hapax.store.State;
import dev.hapax.store.StoreException;
import dev.hapax.store.StoreInspector;
import dev.hapax.store.StoreInspector.Event;
import dev.hapax.store.StoreInspector.Search;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What an operator does with operations: look, and decide what nobody else can. */
@Command(
        name = "operations",
        mixinStandardHelpOptions = true,
        versionProvider = HapaxCommand.Version.class,
        header = "Look at operations, and decide those that are in doubt.",
        synopsisSubcommandLabel = "COMMAND",
        description = {
            "",
            "Works on the store of the configuration while gateways run; on an embedded store only while none does.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  hapax operations list --state in-doubt",
            "  hapax operations show 2c6248c6-07ad-b197-56e0-21aaf6a10c6b",
            "  hapax operations release 2c6248c6-07ad-b197-56e0-21aaf6a10c6b --why 'the bank never saw it'",
            "  hapax operations resolve 2c6248c6-07ad-b197-56e0-21aaf6a10c6b --status 201 --body receipt.json"
        })
final class OperationsCommand implements Runnable {
    private static final int MOST_LISTED = 10_000;
    private static final UUID NO_TOKEN = new UUID(0, 0);

    private final Map<String, String> environment;

    @Spec
    private @Nullable CommandSpec spec;

    OperationsCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "hapax: what about them? list, show, release or resolve");
        }
    }

    @Command(
            mixinStandardHelpOptions = true,
            header = "List operations, the newest first.",
            description = "Whatever is not given fits everything.")
    int list(
            @Mixin ConfigurationOptions options,
            @Option(
                            names = "--state",
                            paramLabel = "STATE",
                            description = "pending, processing, completed, failed or in-doubt.")
                    @Nullable
                    String state,
            @Option(names = "--scope", paramLabel = "NAME", description = "In this scope.") @Nullable String scope,
            @Option(names = "--key", paramLabel = "PREFIX", description = "Whose key begins so.") @Nullable String key,
            @Option(names = "--older-than", paramLabel = "DURATION", description = "Created at least this long ago.")
                    @Nullable
                    String age,
            @Option(
                            names = "--limit",
                            paramLabel = "NUMBER",
                            defaultValue = "100",
                            description = "How many at most; ${DEFAULT-VALUE} unless given.")
                    int limit) {
        Set<State> states = state == null ? Set.of() : Set.of(state(state));
        Duration olderThan = age == null ? Duration.ZERO : duration(age);
        if (limit < 1 || limit > MOST_LISTED) {
            throw wrong("--limit is between 1 and " + MOST_LISTED);
        }
        Search search = new Search(null, scope, key, states, olderThan, limit);
        return inspect(options, (screen, inspector) -> {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("ID", "STATE", "SCOPE", "KEY", "ATTEMPT", "CREATED"));
            for (Snapshot found : inspector.search(search)) {
                rows.add(List.of(
                        found.id().toString(),
                        shown(found),
                        found.key().scope(),
                        found.key().key(),
                        Integer.toString(found.attempt()),
                        time(found.times().createdAt())));
            }
            List<String> lines = Screen.table(rows);
            screen.line(screen.bold(lines.get(0)));
            lines.stream().skip(1).forEach(screen::line);
            screen.line(rows.size() == 1 ? "Nothing fits." : "");
            return true;
        });
    }

    @Command(mixinStandardHelpOptions = true, header = "Show an operation and what happened to it.")
    int show(@Mixin ConfigurationOptions options, @Parameters(paramLabel = "ID") String id) {
        OperationId operation = id(id);
        return inspect(options, (screen, inspector) -> {
            List<Event> timeline = inspector.timeline(operation);
            timeline.forEach(event -> screen.line(line(event)));
            inspector
                    .find(operation)
                    .filter(found -> found.state() == State.PROCESSING)
                    .ifPresent(found -> screen.line("running, token " + found.token()));
            return !timeline.isEmpty() || refuse("there is no operation " + operation);
        });
    }

    @Command(
            mixinStandardHelpOptions = true,
            header = "Let an operation run again.",
            description = {
                "",
                "For an operation that is in doubt or stuck. First make sure that it was not carried out:",
                "the next request with its key is, however many attempts there were before.",
                "",
                "An operation that is running is released only with --token, the token of its owner as",
                "show prints it. If another owner has it by now, nothing changes."
            })
    int release(
            @Mixin ConfigurationOptions options,
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--why", required = true, paramLabel = "TEXT", description = "For those who look later.")
                    String why,
            @Option(names = "--token", paramLabel = "TOKEN", description = "The token of the owner that is running it.")
                    @Nullable
                    String tokenText,
            @Mixin Person person) {
        OperationId operation = id(id);
        UUID token = tokenText == null ? null : token(tokenText);
        return inspect(options, (screen, inspector) -> {
            Optional<Snapshot> found = inspector.find(operation);
            if (token == null && found.map(Snapshot::state).equals(Optional.of(State.PROCESSING))) {
                return refuse("operation %s is running; to take it from its owner, add --token, as show prints it"
                        .formatted(operation));
            }
            UUID seen = token == null ? found.map(Snapshot::token).orElse(NO_TOKEN) : token;
            return told(
                    screen,
                    inspector.forceRelease(operation, seen, person.name, why),
                    "operation %s is neither in doubt nor running%s"
                            .formatted(operation, token == null ? "" : " with that token"));
        });
    }

    @Command(
            mixinStandardHelpOptions = true,
            header = "End an operation that is in doubt with what you found out.",
            description = {"", "Every retry gets this response from then on; nothing is carried out."})
    int resolve(
            @Mixin ConfigurationOptions options,
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--status", required = true, paramLabel = "CODE", description = "The response's status.")
                    int status,
            @Option(names = "--body", paramLabel = "FILE", description = "The response's body; empty unless given.")
                    @Nullable
                    Path body,
            @Option(
                            names = "--content-type",
                            defaultValue = "application/json",
                            paramLabel = "TYPE",
                            description = "Of the body; ${DEFAULT-VALUE} unless given.")
                    String contentType,
            @Option(
                            names = "--keep",
                            defaultValue = "24h",
                            paramLabel = "DURATION",
                            description = "How long it is kept; ${DEFAULT-VALUE} unless given.")
                    String keep,
            @Mixin Person person)
            throws IOException {
        OperationId operation = id(id);
        if (status < 200 || status > 599) {
            throw wrong("a status is between 200 and 599");
        }
        HttpResponse response = body == null
                ? new HttpResponse(status, Headers.NONE, new byte[0])
                : new HttpResponse(status, Headers.of("Content-Type", contentType), read(body));
        Duration retention = duration(keep);
        return inspect(
                options,
                (screen, inspector) -> told(
                        screen,
                        inspector.resolve(operation, response.asResult(), retention, person.name),
                        "operation " + operation + " is not in doubt"));
    }

    /** Who decides. */
    static final class Person {
        @Option(
                names = "--by",
                paramLabel = "NAME",
                defaultValue = "${sys:user.name}",
                description = "Who decided it; ${DEFAULT-VALUE} unless given.")
        String name = "";
    }

    private interface Inspection {
        boolean on(Screen screen, StoreInspector inspector);
    }

    private int inspect(ConfigurationOptions options, Inspection inspection) {
        Configuration configuration;
        try {
            configuration = options.sources(environment).read().configuration();
        } catch (InvalidConfigurationException e) {
            return Streams.refuse(spec, e);
        }
        Screen screen = new Screen(Streams.out(spec), environment);
        try (StoreConnection store = StoreConnection.open(configuration.store(), new Progress(Streams.err(spec)))) {
            return inspection.on(screen, store.store().inspector()) ? 0 : HapaxCommand.FAILED;
        } catch (StoreException e) {
            throw new StartException(
                    "the store %s cannot be read: %s"
                            .formatted(configuration.store().shown(), e.getMessage()),
                    e);
        }
    }

    private boolean told(Screen screen, Optional<Snapshot> now, String otherwise) {
        if (now.isEmpty()) {
            return refuse(otherwise);
        }
        screen.line("%s is %s now".formatted(now.get().id(), shown(now.get())));
        return true;
    }

    private boolean refuse(String why) {
        Streams.err(spec).println("hapax: " + why);
        return false;
    }

    private ParameterException wrong(String why) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), "hapax: " + why);
    }

    private byte[] read(Path file) throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw wrong("there is no file " + file);
        }
    }

    private OperationId id(String text) {
        try {
            return new OperationId(UUID.fromString(text));
        } catch (IllegalArgumentException e) {
            throw wrong("\"" + text + "\" is not an operation id; answers carry it as Hapax-Operation-Id");
        }
    }

    private UUID token(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw wrong("\"" + text + "\" is not a token; hapax operations show prints the owner's");
        }
    }

    private State state(String text) {
        try {
            return State.valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw wrong("there is no state \"" + text + "\": pending, processing, completed, failed or in-doubt");
        }
    }

    private Duration duration(String text) {
        try {
            return Words.duration(text);
        } catch (IllegalArgumentException e) {
            throw wrong("\"" + text + "\": " + e.getMessage());
        }
    }

    private static String shown(Snapshot found) {
        String state = found.state().name().toLowerCase(Locale.ROOT).replace('_', '-');
        return found.expired() ? "expired" : state;
    }

    private static String line(Event event) {
        return "%s  %-14s  attempt %d  %s%s"
                .formatted(
                        time(event.at()),
                        event.kind().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        event.attempt(),
                        event.actor(),
                        event.detail() == null ? "" : ": " + event.detail());
    }

    private static String time(Instant time) {
        return time.truncatedTo(ChronoUnit.MILLIS).toString();
    }
}
