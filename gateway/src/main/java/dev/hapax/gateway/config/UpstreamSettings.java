package dev.hapax.gateway.config;

import dev.hapax.gateway.proxy.GatewaySettings.Pool;
import dev.hapax.gateway.proxy.GatewaySettings.Protocol;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How an upstream is described. */
final class UpstreamSettings {
    private static final Setting<Integer> SIZE =
            Setting.of("size", Scalars.count(1, 100_000), "256", "How many connections there may be at a time");
    private static final Setting<Integer> MAX_WAITING = Setting.of(
            "max-waiting",
            Scalars.count(0, 1_000_000),
            "10000",
            "How many requests may wait for a connection; more are refused at once");
    private static final Setting<Duration> WAIT_TIMEOUT =
            Setting.of("wait-timeout", Scalars.DURATION, "5s", "How long a request may wait for a connection");
    private static final Setting<Duration> IDLE_TIMEOUT = Setting.of(
            "idle-timeout",
            Scalars.DURATION_OR_NONE,
            "1s",
            "How long a connection may lie unused; shorter than the upstream's own keep-alive time");
    private static final Section<Pool> POOL_SECTION = Section.of(
                    "a number of connections", UpstreamSettings::pool, SIZE, MAX_WAITING, WAIT_TIMEOUT, IDLE_TIMEOUT)
            .shorthandFor(SIZE);

    private static final Setting<String> PATH =
            Setting.of("path", Scalars.PATH_PREFIX, "/", "The beginning of the paths that go here; the longest counts");
    private static final Setting<URI> URL =
            Setting.required("url", Scalars.ORIGIN_URL, "Where requests go: `http` or `https`, host and port");
    private static final Setting<Duration> CONNECT_TIMEOUT =
            Setting.of("connect-timeout", Scalars.DURATION, "5s", "How long a new connection may take");
    private static final Setting<Duration> RESPONSE_TIMEOUT = Setting.of(
            "response-timeout",
            Scalars.DURATION,
            "60s",
            "How long an answer may take; after that nobody knows what the upstream did");
    private static final Setting<Pool> POOL = Setting.group("pool", POOL_SECTION, "How connections are kept");
    private static final Setting<Boolean> HTTP2 =
            Setting.of("http2", Scalars.YES_OR_NO, "false", "Whether the upstream speaks HTTP/2");
    private static final Setting<Path> AUTHORITIES = Setting.optional(
            "authorities",
            Scalars.FILE,
            "A PEM file with who vouches for an `https` upstream; the JVM's own unless set");

    static final Section<Upstream> ONE_OF_MANY = Section.of(
            "an upstream with path and url",
            UpstreamSettings::upstream,
            PATH,
            URL,
            CONNECT_TIMEOUT,
            RESPONSE_TIMEOUT,
            POOL,
            HTTP2,
            AUTHORITIES);

    static final Section<Upstream> ONE = Section.of(
                    "a URL such as http://localhost:9000",
                    UpstreamSettings::upstream,
                    URL,
                    CONNECT_TIMEOUT,
                    RESPONSE_TIMEOUT,
                    POOL,
                    HTTP2,
                    AUTHORITIES)
            .shorthandFor(URL);

    static final ListOf<Upstream> MANY = new ListOf<>(ONE_OF_MANY, UpstreamSettings::checkTogether);

    private UpstreamSettings() {}

    private static Upstream upstream(Values values) {
        return new Upstream(
                values.find(PATH).orElse("/"),
                values.get(URL),
                values.get(HTTP2) ? Protocol.HTTP_2 : Protocol.HTTP_1_1,
                values.get(CONNECT_TIMEOUT),
                values.get(RESPONSE_TIMEOUT),
                values.get(POOL),
                values.orNull(AUTHORITIES));
    }

    private static Pool pool(Values values) {
        return new Pool(values.get(SIZE), values.get(MAX_WAITING), values.get(WAIT_TIMEOUT), values.get(IDLE_TIMEOUT));
    }

    private static void checkTogether(List<ListOf.Element<Upstream>> upstreams, Mistakes mistakes) {
        Map<String, Origin> paths = new HashMap<>();
        for (ListOf.Element<Upstream> upstream : upstreams) {
            Origin origin = upstream.reading().tree().origin();
            @Nullable Origin first = paths.putIfAbsent(upstream.value().pathPrefix(), origin);
            if (first != null) {
                mistakes.add(
                        origin,
                        "the path %s goes to another upstream already, at %s; choose another path"
                                .formatted(upstream.value().pathPrefix(), first));
            }
        }
    }
}
