package dev.hapax.testkit.http;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * What is under test, and how it is reached: a server with the routes of {@link ContractRoute}, which has the
 * {@link ContractApplication} behind them and may have its store taken away. One serves all tests of a class.
 */
public abstract class HttpSubject {
    private final Map<Version, HttpClient> clients = new EnumMap<>(Version.class);

    /**
     * Where the server listens, without a path. With {@code http} an HTTP/2 client asks for an upgrade; for HTTP/1.1 it
     * must be {@code http}, because raw sockets go there.
     */
    protected abstract URI base(Version version);

    /** The one application behind the server. */
    protected abstract ContractApplication application();

    /** Makes the store unreachable, until {@link #mendStore}. */
    protected abstract void cutStore();

    protected abstract void mendStore();

    /** A client that prefers this version, and trusts the server if that takes something. */
    protected HttpClient newClient(Version version) {
        return HttpClient.newBuilder()
                .version(version)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    /** The client that the tests share. */
    final synchronized HttpClient client(Version version) {
        return clients.computeIfAbsent(version, this::newClient);
    }
}
