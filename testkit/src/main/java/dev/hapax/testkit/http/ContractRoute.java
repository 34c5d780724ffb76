package dev.hapax.testkit.http;

import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The routes that an adapter under test has to declare; any other request is to pass untouched. Each has a scope of its
 * own. A tenant is a hash of {@code Authorization}; the status of an operation is at {@code /.hapax/operations/}, and
 * nothing is swept within a minute.
 */
@SuppressWarnings("ImmutableEnumChecker") // a Policy is immutable, though nothing tells the compiler
public enum ContractRoute {
    CHARGES("POST", "/contract/charges", Key.HEADER, base()),
    CHANGES("PATCH", "/contract/charges/{id}", Key.HEADER, base()),
    REPLACEMENTS("PUT", "/contract/charges/{id}", Key.HEADER, base()),
    WAIT("POST", "/contract/wait", Key.HEADER, base().whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(20)))),
    WAIT_BRIEFLY(
            "POST",
            "/contract/wait-briefly",
            Key.HEADER,
            base().whenInFlight(WhenInFlight.waitAtMost(Duration.ofMillis(100)))),
    ACCEPT("POST", "/contract/accept", Key.HEADER, base().whenInFlight(WhenInFlight.ACCEPT)),
    SMALL("POST", "/contract/small", Key.HEADER, base().maxBody(1024)),
    RELEASED("POST", "/contract/released", Key.HEADER, base()),
    OPTIONAL("POST", "/contract/optional", Key.HEADER, base()),
    STRICT("POST", "/contract/strict", Key.STRICT_HEADER, base()),
    PAYLOAD("POST", "/contract/payload", Key.MEMBER, base()),
    INVOICES("POST", "/contract/orders/{order_id}/invoice", Key.NATURAL, base()),
    SIGNUPS("POST", "/contract/signups", Key.BODY_HASH, base().window(Duration.ofSeconds(2))),
    BRIEF("POST", "/contract/brief", Key.HEADER, base().retention(Duration.ofSeconds(1))),
    SHORT_LEASE("POST", "/contract/short-lease", Key.HEADER, base().lease(Duration.ofSeconds(2))),
    ABANDONED_FAILS("POST", "/contract/abandoned-fails", Key.HEADER, base().whenAbandoned(WhenAbandoned.FAIL)),
    ABANDONED_RERUNS("POST", "/contract/abandoned-reruns", Key.HEADER, base().whenAbandoned(WhenAbandoned.RERUN));

    /** Where the key of a request comes from. */
    public enum Key {
        /** {@code Idempotency-Key}, quoted or not. */
        HEADER,
        /** {@code Idempotency-Key}, quoted. */
        STRICT_HEADER,
        /** The member {@code /delivery_id} of the JSON body. */
        MEMBER,
        /** The path's {@code order_id}. */
        NATURAL,
        /** All of the body; {@code Idempotency-Intent} sets a repeat apart. */
        BODY_HASH
    }

    private final String method;
    private final String path;
    private final Key key;
    private final Policy policy;
    private final Pattern pattern;

    ContractRoute(String method, String path, Key key, Policy policy) {
        this.method = method;
        this.path = path;
        this.key = key;
        this.policy = policy;
        this.pattern = Pattern.compile(
                Arrays.stream(path.split("/", -1))
                        .map(segment -> segment.startsWith("{") ? "[^/]+" : Pattern.quote(segment))
                        .collect(Collectors.joining("/")),
                Pattern.CASE_INSENSITIVE);
    }

    private static Policy base() {
        return Policy.defaults().whenAbandoned(WhenAbandoned.PARK);
    }

    public String method() {
        return method;
    }

    /** A name in braces stands for one segment. */
    public String path() {
        return path;
    }

    public String scope() {
        return "contract." + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public Key key() {
        return key;
    }

    public Policy policy() {
        return policy;
    }

    /** Whether a request without a key is refused; otherwise it passes unprotected. */
    public boolean keyRequired() {
        return this != OPTIONAL;
    }

    /** Whether an operation that ended in a 5xx may run again; otherwise the error is its result. */
    public boolean releasesServerErrors() {
        return this == RELEASED;
    }

    /** The route of a request whose path is in its plainest form. */
    static Optional<ContractRoute> of(String method, String path) {
        return List.of(values()).stream()
                .filter(route -> route.method.equalsIgnoreCase(method)
                        && route.pattern.matcher(path).matches())
                .findFirst();
    }
}
