package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.gateway.proxy.GatewaySettings.ClientCertificates;
import dev.hapax.gateway.proxy.GatewaySettings.Tls;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import dev.hapax.http.TenantSource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS on both sides. */
class TlsTest {
    @TempDir
    static Path directory;

    private static TestIdentity server;
    private static TestIdentity alice;
    private static TestIdentity bob;

    @BeforeAll
    static void makeIdentities() throws Exception {
        server = TestIdentity.make(directory, "localhost");
        alice = TestIdentity.make(directory, "alice");
        bob = TestIdentity.make(directory, "bob");
    }

    private static RawUpstream upstream() {
        return RawUpstream.answering(request -> response("201 Created", request.header("X-Forwarded-Proto")));
    }

    private static HttpResponse<String> charge(TestGateway gateway, HttpClient client) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create("https://localhost:" + gateway.port() + TestGateway.CHARGES))
                        .header("Idempotency-Key", "k")
                        .POST(BodyPublishers.ofString("{}"))
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void bothVersionsOfHttpAreSpoken() throws Exception {
        try (RawUpstream upstream = upstream();
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .tls(Tls.of(server.certificate(), server.key()))
                        .start()) {
            for (Version version : Version.values()) {
                HttpClient client = HttpClient.newBuilder()
                        .version(version)
                        .sslContext(server.trustingContext())
                        .build();

                HttpResponse<String> answer = charge(gateway, client);

                assertThat(answer.version()).isEqualTo(version);
                assertThat(answer.body()).isEqualTo("https");
            }
            assertThat(upstream.requests()).hasSize(1);
        }
    }

    @Test
    void certificateIsATenant() throws Exception {
        Path authorities = directory.resolve("clients.pem");
        TestIdentity.join(authorities, alice, bob);
        try (RawUpstream upstream = upstream();
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .tls(new Tls(server.certificate(), server.key(), ClientCertificates.REQUIRED, authorities))
                        .tenants(new TenantSource.Certificate())
                        .start()) {
            HttpClient asAlice = HttpClient.newBuilder()
                    .sslContext(alice.contextTowards(server))
                    .build();
            HttpClient asBob = HttpClient.newBuilder()
                    .sslContext(bob.contextTowards(server))
                    .build();
            HttpClient asNobody =
                    HttpClient.newBuilder().sslContext(server.trustingContext()).build();

            HttpResponse<String> first = charge(gateway, asAlice);
            HttpResponse<String> again = charge(gateway, asAlice);
            HttpResponse<String> other = charge(gateway, asBob);

            assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
            assertThat(other.headers().firstValue("Idempotent-Replayed")).isEmpty();
            assertThat(other.headers().firstValue("Hapax-Operation-Id"))
                    .isNotEqualTo(first.headers().firstValue("Hapax-Operation-Id"));
            assertThatThrownBy(() -> charge(gateway, asNobody)).isInstanceOf(IOException.class);
            assertThat(upstream.requests()).hasSize(2);
        }
    }

    @Test
    void upstreamMustBeWhoItShouldBe() throws Exception {
        try (RawUpstream plain = upstream();
                TestGateway secure = TestGateway.before(plain.uri())
                        .tls(Tls.of(server.certificate(), server.key()))
                        .start()) {
            URI uri = URI.create("https://localhost:" + secure.port());
            try (TestGateway trusting = before(uri, server.certificate());
                    TestGateway distrusting = before(uri, alice.certificate());
                    RawClient fine = new RawClient(trusting);
                    RawClient refused = new RawClient(distrusting)) {
                assertThat(fine.charge("k").read().status()).isEqualTo(201);
                assertThat(refused.charge("k").read().text()).contains("upstream-unreachable");
                assertThat(plain.requests()).hasSize(1);
            }
        }
    }

    private static TestGateway before(URI uri, Path authorities) {
        return TestGateway.before(uri)
                .upstream(old -> new Upstream(
                        old.pathPrefix(),
                        old.uri(),
                        old.protocol(),
                        old.connectTimeout(),
                        old.responseTimeout(),
                        old.pool(),
                        authorities))
                .start();
    }
}
