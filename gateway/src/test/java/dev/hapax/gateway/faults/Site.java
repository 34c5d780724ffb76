package dev.hapax.gateway.faults;

import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.gateway.HapaxCommand;
import dev.hapax.testkit.ChildJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** A database, a service behind it and gateways in front of it, each a process that can be killed. */
final class Site implements AutoCloseable {
    private static final String CONFIGURATION = """
            listen: 127.0.0.1:%d
            admin: 127.0.0.1:%d
            upstream: http://127.0.0.1:%d
            store: {url: "%s", pool: 4}
            tenant: none
            routes:
              - match: POST /v1/charges
                scope: charges
                key: header
                lease: 2s
            """;

    private final Path directory;
    private final EmbeddedPostgres postgres = EmbeddedPostgres.start();
    private final int servicePort = freePort();
    private final Path ledger;
    private final List<Node> gateways = new ArrayList<>();
    private ChildJvm service;

    /** A gateway, and where it is: it comes back to the same place. */
    private static final class Node {
        final int port = freePort();
        final int adminPort = freePort();
        final int heap;
        final Path configuration;
        ChildJvm process;

        Node(Site site, int number, int heap) throws IOException {
            this.heap = heap;
            configuration = site.directory.resolve("hapax-%d.yaml".formatted(number));
            Files.writeString(
                    configuration, CONFIGURATION.formatted(port, adminPort, site.servicePort, site.postgres.jdbcUrl()));
            process = run();
        }

        ChildJvm run() throws IOException {
            return ChildJvm.start(
                    heap,
                    HapaxCommand.class,
                    List.of("gateway", "--config", configuration.toString(), "--wait", "30s"));
        }
    }

    private Site(Path directory) throws IOException {
        this.directory = directory;
        this.ledger = directory.resolve("ledger");
        this.service = runService();
    }

    static Site start(Path directory, int gateways) throws IOException {
        return start(directory, gateways, 192);
    }

    /** @param heap what a gateway may use, in mebibytes */
    static Site start(Path directory, int gateways, int heap) throws IOException {
        Site site = new Site(directory);
        for (int i = 0; i < gateways; i++) {
            site.gateways.add(new Node(site, i, heap));
        }
        site.gateways.forEach(site::awaitReady);
        return site;
    }

    URI gateway(int number) {
        Node node = gateways.get(number % gateways.size());
        return URI.create("http://127.0.0.1:%d/v1/charges".formatted(node.port));
    }

    long pid(int gateway) {
        return gateways.get(gateway).process.pid();
    }

    void killGateway(int number) throws InterruptedException {
        gateways.get(number).process.kill();
    }

    void startGateway(int number) throws IOException {
        Node node = gateways.get(number);
        node.process = node.run();
        awaitReady(node);
    }

    void killService() throws InterruptedException {
        service.kill();
    }

    void startService() throws IOException {
        service = runService();
    }

    EmbeddedPostgres postgres() {
        return postgres;
    }

    /** How often the service executed each key. */
    Map<String, Long> executions() throws IOException {
        return Files.exists(ledger)
                ? Files.readAllLines(ledger).stream()
                        .collect(Collectors.groupingBy(line -> line.replace("\"", ""), Collectors.counting()))
                : Map.of();
    }

    private ChildJvm runService() throws IOException {
        ChildJvm child =
                ChildJvm.start(64, LedgerService.class, List.of(Integer.toString(servicePort), ledger.toString()));
        child.awaitLine("ready");
        return child;
    }

    private void awaitReady(Node node) {
        URI ready = URI.create("http://127.0.0.1:%d/health/ready".formatted(node.adminPort));
        HttpClient client = HttpClient.newHttpClient();
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> client.send(HttpRequest.newBuilder(ready).build(), HttpResponse.BodyHandlers.discarding())
                                .statusCode()
                        == 200);
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        gateways.forEach(node -> node.process.close());
        service.close();
        postgres.close();
    }
}
