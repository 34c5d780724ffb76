package dev.hapax.gateway.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * Where operations are kept.
 *
 * @param jdbcUrl empty for a PostgreSQL of our own
 * @param user who connects; empty when the URL says it
 * @param data where a PostgreSQL of our own keeps its files
 * @param pool how many connections there may be
 * @param connectionTimeout how long a request waits for one before the store counts as down
 * @param migrate whether tables are made and brought up to date at the start
 * @param nearCache how many bytes of results are kept in memory, to answer repeats from; empty for none
 */
public record StoreSettings(
        Optional<String> jdbcUrl,
        Optional<String> user,
        Optional<String> password,
        Path data,
        int pool,
        Duration connectionTimeout,
        boolean migrate,
        OptionalInt nearCache) {
    private static final Pattern SECRET_PARAMETER =
            Pattern.compile("([?&](?:password|sslpassword)=)(?!\\$\\{\\w+}(?:&|$))[^&]*", Pattern.CASE_INSENSITIVE);

    static final Setting<String> URL = Setting.required(
            "url",
            new Scalar<>(
                            "a URL such as jdbc:postgresql://localhost/hapax, or embedded",
                            (text, origin) -> urlOrEmbedded(text))
                    .shownAs(StoreSettings::masked),
            "A JDBC URL of PostgreSQL 14 or later, or `embedded` for one that the gateway starts itself");
    static final Setting<String> USER = Setting.optional("user", Scalars.TEXT, "Who connects, unless the URL says it");
    static final Setting<String> PASSWORD = Setting.optional(
            "password",
            Scalars.TEXT.secret(),
            "The user's password, best as `${VARIABLE}` or in `HAPAX_STORE_PASSWORD`");
    static final Setting<Path> DATA =
            Setting.of("data", Scalars.DIRECTORY, ".hapax/gateway", "Where an embedded PostgreSQL keeps its files");
    static final Setting<Integer> POOL =
            Setting.of("pool", Scalars.count(1, 1_000), "10", "How many connections there may be");
    static final Setting<Duration> CONNECTION_TIMEOUT = Setting.of(
            "connection-timeout",
            new Scalar<>("a duration such as 2s", (text, origin) -> Amounts.duration(text, Duration.ofMillis(250))),
            "2s",
            "How long a request waits for a connection before the store counts as down");
    static final Setting<Boolean> MIGRATE = Setting.of(
            "migrate", Scalars.YES_OR_NO, "true", "Whether tables are made and brought up to date at the start");

    static final Setting<OptionalInt> NEAR_CACHE = Setting.of(
            "near-cache",
            new Scalar<>(
                    "a size such as 32MiB, or off",
                    (text, origin) -> text.equals("off")
                            ? OptionalInt.empty()
                            : OptionalInt.of(Scalars.positive(Amounts.bytes(text)))),
            "32MiB",
            "How much memory may hold results that are asked for again, for a minute at most");

    static final Section<StoreSettings> SECTION = Section.of(
                    "jdbc:postgresql://… or embedded",
                    StoreSettings::from,
                    URL,
                    USER,
                    PASSWORD,
                    DATA,
                    POOL,
                    CONNECTION_TIMEOUT,
                    MIGRATE,
                    NEAR_CACHE)
            .shorthandFor(URL);

    private static final String EMBEDDED = "embedded";

    public boolean isEmbedded() {
        return jdbcUrl.isEmpty();
    }

    /** Where it is, for people: no secrets. */
    public String shown() {
        return jdbcUrl.map(StoreSettings::masked).orElse("embedded PostgreSQL in " + data);
    }

    @Override
    public String toString() {
        return "StoreSettings[" + shown() + "]";
    }

    private static StoreSettings from(Values values) {
        String url = values.get(URL);
        boolean embedded = url.equals(EMBEDDED);
        if (embedded && values.has(USER)) {
            values.refuse(USER, "store.user is not used with an embedded store; leave it out");
        }
        if (embedded && values.has(PASSWORD)) {
            values.refuse(PASSWORD, "store.password is not used with an embedded store; leave it out");
        }
        return new StoreSettings(
                embedded ? Optional.empty() : Optional.of(url),
                values.find(USER),
                values.find(PASSWORD),
                values.get(DATA),
                values.get(POOL),
                values.get(CONNECTION_TIMEOUT),
                values.get(MIGRATE),
                values.get(NEAR_CACHE));
    }

    private static String urlOrEmbedded(String text) {
        if (text.equals(EMBEDDED) || text.matches("jdbc:postgresql:\\S+")) {
            return text;
        }
        String hint = text.matches("postgres(ql)?://.*") ? "; put jdbc: before it, and the user into store.user" : "";
        throw new IllegalArgumentException("jdbc:postgresql://host/database or embedded is needed" + hint);
    }

    static String masked(String url) {
        return SECRET_PARAMETER
                .matcher(url.replaceFirst("//[^/@]*@", "//" + Scalar.MASK + "@"))
                .replaceAll("$1" + java.util.regex.Matcher.quoteReplacement(Scalar.MASK));
    }
}
