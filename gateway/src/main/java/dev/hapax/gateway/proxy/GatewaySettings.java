package dev.hapax.gateway.proxy;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link Gateway} listens, forwards and stops. Immutable; what cannot work is refused at once with an
 * {@link IllegalArgumentException} that says why.
 *
 * @param listen where clients come in
 * @param tls empty for plain text
 * @param http2 whether HTTP/2 is spoken too: by ALPN with TLS, with prior knowledge or by upgrade without
 * @param upstreams the longest path prefix that fits counts
 * @param grace how long a stop waits for what is in flight
 * @param admin where health and metrics are served; empty for nowhere
 */
public record GatewaySettings(
        Address listen,
        @Nullable Tls tls,
        boolean http2,
        Limits limits,
        Forwarding forwarding,
        List<Upstream> upstreams,
        Duration grace,
        @Nullable Address admin) {
    public static final Duration DEFAULT_GRACE = Duration.ofSeconds(30);

    public GatewaySettings {
        upstreams = List.copyOf(upstreams);
        if (upstreams.isEmpty()) {
            throw new IllegalArgumentException("there is no upstream");
        }
        Set<String> prefixes = new HashSet<>();
        for (Upstream upstream : upstreams) {
            if (!prefixes.add(upstream.pathPrefix())) {
                throw new IllegalArgumentException("two upstreams have the path prefix " + upstream.pathPrefix());
            }
        }
        requireNotNegative(grace, "the grace time");
    }

    /** Plain text with HTTP/2, the usual limits, one upstream for everything, and no admin port. */
    public static GatewaySettings of(Address listen, Upstream upstream) {
        return new GatewaySettings(
                listen, null, true, Limits.DEFAULT, Forwarding.DEFAULT, List.of(upstream), DEFAULT_GRACE, null);
    }

    /**
     * Where to listen.
     *
     * @param port 0 for any that is free
     */
    public record Address(String host, int port) {
        public Address {
            if (host.isBlank()) {
                throw new IllegalArgumentException("the host to listen on is empty");
            }
            if (port < 0 || port > 65_535) {
                throw new IllegalArgumentException("port " + port + " is not between 0 and 65535");
            }
        }
    }

    /**
     * TLS towards clients.
     *
     * @param certificate a PEM file with the certificate and those that vouch for it
     * @param key a PEM file with its private key, PKCS#8
     * @param clients whether clients show a certificate too
     * @param clientAuthorities a PEM file with the authorities whose client certificates are accepted
     */
    public record Tls(
            Path certificate,
            Path key,
            ClientCertificates clients,
            @Nullable Path clientAuthorities) {
        public Tls {
            if ((clients == ClientCertificates.NONE) != (clientAuthorities == null)) {
                throw new IllegalArgumentException(
                        "client certificates and the authorities that vouch for them go together");
            }
        }

        public static Tls of(Path certificate, Path key) {
            return new Tls(certificate, key, ClientCertificates.NONE, null);
        }
    }

    /** Whether clients show a certificate. */
    public enum ClientCertificates {
        NONE,
        OPTIONAL,
        REQUIRED
    }

    /**
     * What a client may ask of the gateway.
     *
     * @param maxBody the largest request body on a protected route, in bytes; others may be of any size
     * @param maxInitialLine the longest request line, in bytes
     * @param maxHeaders the largest head of a request, in bytes
     * @param idleTimeout how long a connection may be open without a request
     * @param headTimeout how long a new connection may take to its first request
     * @param bodyTimeout how long the body of a protected request may take, and how long any other may stall
     * @param maxConnections how many clients may be connected at a time; more are turned away
     */
    public record Limits(
            int maxBody,
            int maxInitialLine,
            int maxHeaders,
            Duration idleTimeout,
            Duration headTimeout,
            Duration bodyTimeout,
            int maxConnections) {
        public static final Limits DEFAULT = new Limits(
                1 << 20,
                8 << 10,
                16 << 10,
                Duration.ofSeconds(75),
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                20_000);

        public Limits {
            requirePositive(maxBody, "the largest request body");
            requirePositive(maxInitialLine, "the longest request line");
            requirePositive(maxHeaders, "the largest request head");
            requirePositive(idleTimeout, "the idle timeout");
            requirePositive(headTimeout, "the head timeout");
            requirePositive(bodyTimeout, "the body timeout");
            requirePositive(maxConnections, "the number of connections");
        }
    }

    /**
     * What the upstream is told about where a request came from.
     *
     * @param trustClient whether {@code Forwarded} and {@code X-Forwarded-*} of a request are believed and added to,
     *     because a proxy of our own sent it; otherwise they are replaced
     * @param preserveHost whether the upstream sees the {@code Host} that the client asked for; otherwise its own
     * @param via the name under which {@code Via} tells of this gateway; empty for not at all
     */
    public record Forwarding(
            boolean trustClient,
            boolean preserveHost,
            @Nullable String via) {
        public static final Forwarding DEFAULT = new Forwarding(false, true, null);
    }

    /**
     * Where requests go.
     *
     * @param pathPrefix of the requests that go there: {@code /} for all, otherwise without a slash at the end
     * @param uri {@code http} or {@code https}, a host and perhaps a port, nothing else: paths pass unchanged
     * @param protocol what the upstream speaks
     * @param connectTimeout how long a connection may take
     * @param responseTimeout how long the head of a response may take from when the request was sent, and how long the
     *     body of one that is to be stored may stall
     * @param pool how its connections are kept
     * @param authorities a PEM file with the authorities that vouch for an {@code https} upstream; empty for those that
     *     the JVM knows
     */
    public record Upstream(
            String pathPrefix,
            URI uri,
            Protocol protocol,
            Duration connectTimeout,
            Duration responseTimeout,
            Pool pool,
            @Nullable Path authorities) {
        public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);
        public static final Duration DEFAULT_RESPONSE_TIMEOUT = Duration.ofSeconds(60);

        public Upstream {
            if (!pathPrefix.startsWith("/") || (pathPrefix.length() > 1 && pathPrefix.endsWith("/"))) {
                throw new IllegalArgumentException(
                        "path prefix \"" + pathPrefix + "\" must begin with a slash and not end with one");
            }
            requireOrigin(uri);
            requirePositive(connectTimeout, "the connect timeout");
            requirePositive(responseTimeout, "the response timeout");
        }

        public static Upstream of(URI uri) {
            return new Upstream(
                    "/", uri, Protocol.HTTP_1_1, DEFAULT_CONNECT_TIMEOUT, DEFAULT_RESPONSE_TIMEOUT, Pool.DEFAULT, null);
        }

        boolean isTls() {
            return "https".equalsIgnoreCase(uri.getScheme());
        }

        int port() {
            return uri.getPort() != -1 ? uri.getPort() : isTls() ? 443 : 80;
        }

        private static void requireOrigin(URI uri) {
            boolean http = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
            boolean bare = uri.getRawPath() == null
                    || uri.getRawPath().isEmpty()
                    || uri.getRawPath().equals("/");
            boolean more = uri.getRawQuery() != null || uri.getRawFragment() != null || uri.getRawUserInfo() != null;
            if (!http || uri.getHost() == null || !bare || more) {
                throw new IllegalArgumentException(
                        "upstream " + uri + " must be http or https with a host, such as http://localhost:9000");
            }
        }
    }

    /** What an upstream speaks. */
    public enum Protocol {
        HTTP_1_1,
        /** By ALPN with TLS, with prior knowledge without. */
        HTTP_2
    }

    /**
     * The connections to an upstream.
     *
     * @param size how many there may be at a time
     * @param maxWaiting how many requests may wait for one; more are refused at once
     * @param waitTimeout how long a request may wait for one
     * @param idleTimeout how long one may lie unused before it is closed. Shorter than the upstream's own: a request
     *     that meets a connection which the upstream is closing ends in doubt
     */
    public record Pool(int size, int maxWaiting, Duration waitTimeout, Duration idleTimeout) {
        public static final Pool DEFAULT = new Pool(256, 10_000, Duration.ofSeconds(5), Duration.ofSeconds(1));

        public Pool {
            requirePositive(size, "the size of the pool");
            if (maxWaiting < 0) {
                throw new IllegalArgumentException("maxWaiting is " + maxWaiting + "; it cannot be negative");
            }
            requirePositive(waitTimeout, "the pool's wait timeout");
            requireNotNegative(idleTimeout, "the pool's idle timeout");
        }
    }

    private static void requirePositive(int value, String what) {
        if (value <= 0) {
            throw new IllegalArgumentException(what + " is " + value + "; it must be positive");
        }
    }

    private static void requirePositive(Duration value, String what) {
        if (value.isZero() || value.isNegative()) {
            throw new IllegalArgumentException(what + " is " + value + "; it must be positive");
        }
    }

    private static void requireNotNegative(Duration value, String what) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(what + " is " + value + "; it cannot be negative");
        }
    }
}
