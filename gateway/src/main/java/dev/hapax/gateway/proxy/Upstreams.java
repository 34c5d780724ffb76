package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import io.vertx.core.Vertx;
import java.util.Comparator;
import java.util.List;

/** The upstreams as one event loop reaches them, by path. */
final class Upstreams {
    private final List<UpstreamClient> longestPrefixFirst;

    Upstreams(Vertx vertx, List<Upstream> upstreams, int loops) {
        longestPrefixFirst = upstreams.stream()
                .sorted(Comparator.comparingInt(
                        (Upstream upstream) -> -upstream.pathPrefix().length()))
                .map(upstream -> new UpstreamClient(vertx, upstream, loops))
                .toList();
    }

    /** @throws ProblemException when no upstream has this path */
    UpstreamClient of(String path) {
        return longestPrefixFirst.stream()
                .filter(client -> fits(client.upstream().pathPrefix(), path))
                .findFirst()
                .orElseThrow(() -> new ProblemException(Problem.NO_UPSTREAM, "no upstream has this path"));
    }

    private static boolean fits(String prefix, String path) {
        return prefix.equals("/")
                || (path.startsWith(prefix)
                        && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/'));
    }
}
