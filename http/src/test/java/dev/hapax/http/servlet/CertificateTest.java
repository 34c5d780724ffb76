package dev.hapax.http.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.KeySource;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import dev.hapax.http.Routes;
import dev.hapax.http.TenantSource;
import dev.hapax.memory.MemoryStore;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients that are known by their certificates. */
class CertificateTest {
    private final AtomicInteger runs = new AtomicInteger();

    @Test
    void theSubjectOfTheCertificateIsTheTenant(@TempDir Path directory) throws Exception {
        Map<String, X509Certificate> known =
                Map.of("ann", certificate(directory, "ann"), "bob", certificate(directory, "bob"));
        HapaxFilter hapax = new HapaxFilter(idempotency());
        // stands for the container, which tells of certificates that it has verified
        Filter container = (request, response, chain) -> {
            X509Certificate shown = known.get(((HttpServletRequest) request).getHeader("Client"));
            request.setAttribute("jakarta.servlet.request.X509Certificate", new X509Certificate[] {shown});
            hapax.doFilter(request, response, chain);
        };
        URI base = Container.JETTY.start(new Container.Site("/", container, Map.of("/*", new Counting())));

        assertThat(send(base, "ann")).isEqualTo("1");
        assertThat(send(base, "bob")).isEqualTo("2");
        assertThat(send(base, "ann")).isEqualTo("1");
        assertThat(send(base, "bob")).isEqualTo("2");
    }

    private static HttpIdempotency idempotency() {
        Route route = new Route(
                "POST", PathPattern.of("/charges"), "charges", KeySource.Header.DEFAULT, HttpPolicy.defaults());
        Hapax engine =
                Hapax.on(new MemoryStore()).scope("charges", Policy.defaults()).build();
        return new HttpIdempotency(engine, new Routes(List.of(route)), new TenantSource.Certificate());
    }

    private static String send(URI base, String client) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(base.resolve("/charges"))
                .header("Idempotency-Key", "\"k\"")
                .header("Client", client)
                .POST(BodyPublishers.noBody())
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        return answer.body();
    }

    private static X509Certificate certificate(Path directory, String name) throws Exception {
        File store = directory.resolve(name + ".p12").toFile();
        String keytool = Path.of(ProcessHandle.current().info().command().orElseThrow())
                .resolveSibling("keytool")
                .toString();
        Process made = new ProcessBuilder(
                        keytool,
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        name,
                        "-dname",
                        "CN=" + name,
                        "-keystore",
                        store.getPath(),
                        "-storepass",
                        "changeit")
                .inheritIO()
                .start();
        assertThat(made.waitFor()).isZero();
        return (X509Certificate)
                KeyStore.getInstance(store, "changeit".toCharArray()).getCertificate(name);
    }

    private final class Counting extends HttpServlet {
        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws java.io.IOException {
            response.getOutputStream().print(runs.incrementAndGet());
        }
    }
}
