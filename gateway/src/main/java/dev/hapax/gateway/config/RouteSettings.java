package dev.hapax.gateway.config;

import dev.hapax.OnStoreFailure;
import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.http.FingerprintRule;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.HttpPolicy.ServerErrors;
import dev.hapax.http.JsonPointer;
import dev.hapax.http.KeySource;
import dev.hapax.http.Route;
import dev.hapax.store.OperationKey;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A route as it was written: what it is for, and how the operations of its scope are treated. */
record RouteSettings(RouteMatch match, String scope, KeySource key, Terms terms, HttpPolicy http) {

    /** The part that belongs to the scope, and so must be the same wherever the scope is used. */
    record Terms(
            Duration retention,
            Optional<Duration> window,
            Duration lease,
            Duration maxDuration,
            WhenInFlight whenInFlight,
            WhenAbandoned whenAbandoned,
            int maxAttempts,
            OnStoreFailure onStoreFailure,
            int maxBody) {

        Policy policy() {
            Policy policy = Policy.defaults()
                    .retention(retention)
                    .lease(lease)
                    .maxDuration(maxDuration)
                    .whenInFlight(whenInFlight)
                    .whenAbandoned(whenAbandoned)
                    .maxAttempts(maxAttempts)
                    .onStoreFailure(onStoreFailure)
                    .maxBody(maxBody);
            return window.map(policy::window).orElse(policy);
        }
    }

    static final Setting<RouteMatch> MATCH = Setting.required(
            "match", RouteMatch.SCALAR, "Method and path; a name in braces stands for one segment, `/**` for any rest");
    static final Setting<String> SCOPE = Setting.optional(
            "scope",
            new Scalar<>("a name such as payments", (text, origin) -> scopeName(text)),
            "The operation family; made of the match unless set. Renaming it forgets its keys");
    static final Setting<KeySource> KEY = Setting.of("key", KeyForms.SHAPE, "header", "Where the key comes from");
    static final Setting<Duration> RETENTION =
            Setting.of("retention", Scalars.DURATION, "24h", "How long a result is kept, from when it was stored");
    static final Setting<Duration> WINDOW = Setting.optional(
            "window",
            Scalars.DURATION,
            "For how long, from when it ended, an operation answers a retry. Default: none, for as long as it is kept");
    static final Setting<Duration> LEASE =
            Setting.of("lease", Scalars.DURATION, "30s", "How long a claim outlives a gateway that died");
    static final Setting<Duration> MAX_DURATION =
            Setting.of("max-duration", Scalars.DURATION, "1h", "How long an operation may run at all");
    static final Setting<WhenInFlight> WHEN_IN_FLIGHT = Setting.of(
            "when-in-flight",
            Scalars.WHEN_IN_FLIGHT,
            "reject",
            "What a retry gets while the first request runs: `reject` (409), `wait 2s`, `accept` (202)");
    static final Setting<WhenAbandoned> WHEN_ABANDONED = Setting.of(
            "when-abandoned",
            Scalars.words(
                    "park, rerun or fail",
                    Scalars.ordered(
                            "park", WhenAbandoned.PARK, "rerun", WhenAbandoned.RERUN, "fail", WhenAbandoned.FAIL)),
            "park",
            "What becomes of an operation of which nobody knows how it ended");
    static final Setting<Integer> MAX_ATTEMPTS =
            Setting.of("max-attempts", Scalars.count(1, 1_000_000), "10", "How often an operation may be tried");
    static final Setting<Boolean> KEY_REQUIRED = Setting.of(
            "key-required",
            Scalars.YES_OR_NO,
            "true",
            "Whether a request without a key is refused; otherwise it passes unprotected");
    static final Setting<OnStoreFailure> ON_STORE_FAILURE = Setting.of(
            "on-store-failure",
            Scalars.words(
                    "closed or open", Scalars.ordered("closed", OnStoreFailure.CLOSED, "open", OnStoreFailure.OPEN)),
            "closed",
            "Whether requests are refused (`closed`) or pass unprotected (`open`) while the store is down");
    static final Setting<ServerErrors> SERVER_ERRORS = Setting.of(
            "server-errors",
            Scalars.words(
                    "store or release", Scalars.ordered("store", ServerErrors.STORE, "release", ServerErrors.RELEASE)),
            "store",
            "Whether a 5xx is the result, or a retry runs again; a 503 is always released");
    static final Setting<Integer> MAX_BODY = Setting.of(
            "max-body", Scalars.SIZE, "1MiB", "The largest response to keep; of a larger one only the status is kept");
    static final Setting<List<String>> STORED_HEADERS = Setting.optional(
            "stored-headers", new ListOf<>(Scalars.HEADER_NAME), "Response headers to keep besides the usual ones");

    private static final Setting<List<JsonPointer>> MEMBERS = Setting.optional(
            "members", new ListOf<>(Scalars.POINTER), "The members of a JSON body that count; all of it unless set");
    private static final Setting<byte[]> SECRET =
            Setting.optional("secret", Scalars.SECRET, "The key of the digest; a plain one unless set");
    static final Setting<FingerprintRule> FINGERPRINT = Setting.optional(
            "fingerprint",
            Section.of("members and secret", RouteSettings::fingerprint, MEMBERS, SECRET),
            "What of a request must be the same in a retry");

    static final Section<RouteSettings> SECTION = Section.of(
            "a route",
            RouteSettings::from,
            MATCH,
            SCOPE,
            KEY,
            RETENTION,
            WINDOW,
            LEASE,
            MAX_DURATION,
            WHEN_IN_FLIGHT,
            WHEN_ABANDONED,
            MAX_ATTEMPTS,
            KEY_REQUIRED,
            ON_STORE_FAILURE,
            SERVER_ERRORS,
            MAX_BODY,
            STORED_HEADERS,
            FINGERPRINT);

    /** What holds for every route that does not say otherwise. */
    static final Section<Boolean> DEFAULTS = SECTION.without(values -> true, MATCH, SCOPE);

    static final ListOf<RouteSettings> LIST = new ListOf<>(SECTION, RouteSettings::checkTogether);

    Stream<Route> routes() {
        return match.methods().stream().map(method -> new Route(method, match.path(), scope, key, http));
    }

    private static RouteSettings from(Values values) {
        RouteMatch match = values.get(MATCH);
        checkKey(match, values);
        Terms terms = terms(values);
        Policy unused = terms.policy(); // refuses terms that contradict each other
        return new RouteSettings(match, values.get(SCOPE), values.get(KEY), terms, http(values));
    }

    private static void checkKey(RouteMatch match, Values values) {
        KeySource key = values.get(KEY);
        if (key instanceof KeySource.BodyHash && !values.has(WINDOW)) {
            values.refuse(
                    KEY,
                    values.path(WINDOW)
                            + " is missing: with body-hash, say for how long the same body is a retry, as in window: 10s");
        }
        if (key instanceof KeySource.Natural natural) {
            natural.pathValues().stream()
                    .filter(name -> !match.path().names().contains(name))
                    .forEach(name -> values.refuse(
                            KEY,
                            "%s names {%s}, which is not in the path %s%s"
                                    .formatted(
                                            values.path(KEY),
                                            name,
                                            match.path().text(),
                                            Suggestions.hint(name, match.path().names()))));
        }
        Optional<Duration> window = values.find(WINDOW);
        if (window.isPresent() && window.get().compareTo(values.get(RETENTION)) > 0) {
            values.refuse(
                    WINDOW,
                    "%s is longer than the retention of %s; results are not kept for that long"
                            .formatted(values.path(WINDOW), Amounts.print(values.get(RETENTION))));
        }
        if (values.get(LEASE).compareTo(values.get(MAX_DURATION)) > 0) {
            values.refuse(
                    MAX_DURATION,
                    "%s is shorter than one lease of %s"
                            .formatted(values.path(MAX_DURATION), Amounts.print(values.get(LEASE))));
        }
    }

    private static Terms terms(Values values) {
        return new Terms(
                values.get(RETENTION),
                values.find(WINDOW),
                values.get(LEASE),
                values.get(MAX_DURATION),
                values.get(WHEN_IN_FLIGHT),
                values.get(WHEN_ABANDONED),
                values.get(MAX_ATTEMPTS),
                values.get(ON_STORE_FAILURE),
                values.get(MAX_BODY));
    }

    private static HttpPolicy http(Values values) {
        return new HttpPolicy(
                values.get(KEY_REQUIRED),
                values.get(SERVER_ERRORS),
                values.find(FINGERPRINT).orElse(FingerprintRule.WHOLE),
                Set.copyOf(values.find(STORED_HEADERS).orElse(List.of())));
    }

    private static FingerprintRule fingerprint(Values values) {
        return new FingerprintRule(
                values.find(MEMBERS).orElse(List.of()), values.find(SECRET).orElse(FingerprintRule.WHOLE.secret()));
    }

    private static String scopeName(String text) {
        return new OperationKey("", text, "any").scope();
    }

    private static void checkTogether(List<ListOf.Element<RouteSettings>> routes, Mistakes mistakes) {
        Map<String, ListOf.Element<RouteSettings>> scopes = new HashMap<>();
        for (int i = 0; i < routes.size(); i++) {
            ListOf.Element<RouteSettings> route = routes.get(i);
            ListOf.@Nullable Element<RouteSettings> first =
                    scopes.putIfAbsent(route.value().scope(), route);
            if (first != null && !first.value().terms().equals(route.value().terms())) {
                mistakes.add(
                        route.reading().tree().origin(),
                        "scope %s has other terms at %s; give the routes the same retention, lease and so on, or another scope"
                                .formatted(
                                        route.value().scope(),
                                        first.reading().tree().origin()));
            }
            refuseIfNeverReached(route, routes.subList(0, i), mistakes);
        }
    }

    private static void refuseIfNeverReached(
            ListOf.Element<RouteSettings> route, List<ListOf.Element<RouteSettings>> before, Mistakes mistakes) {
        before.stream()
                .filter(earlier -> earlier.value().match().covers(route.value().match()))
                .findFirst()
                .ifPresent(earlier -> mistakes.add(
                        route.reading().tree().origin(),
                        "%s is never reached: %s at %s comes first and fits all of its requests; move it below this one or leave one out"
                                .formatted(
                                        route.reading().path(),
                                        earlier.reading().path(),
                                        earlier.reading().tree().origin())));
    }
}
