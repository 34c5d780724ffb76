package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.ClientCertificates;
import dev.hapax.gateway.proxy.GatewaySettings.Protocol;
import dev.hapax.gateway.proxy.GatewaySettings.Tls;
import dev.hapax.gateway.proxy.GatewaySettings.Upstream;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Turns TLS settings into those of Vert.x. Files are read at once, so that a missing one is known at the start. */
final class TlsOptions {
    private TlsOptions() {}

    static HttpServerOptions of(Tls tls, boolean http2, HttpServerOptions options) {
        options.setSsl(true)
                .setUseAlpn(http2)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .addCertValue(read(tls.certificate()))
                        .addKeyValue(read(tls.key())));
        Path authorities = tls.clientAuthorities();
        if (authorities != null) {
            options.setTrustOptions(new PemTrustOptions().addCertValue(read(authorities)))
                    .setClientAuth(
                            tls.clients() == ClientCertificates.REQUIRED ? ClientAuth.REQUIRED : ClientAuth.REQUEST);
        }
        return options;
    }

    static HttpClientOptions towards(Upstream upstream, HttpClientOptions options) {
        if (!upstream.isTls()) {
            return options;
        }
        options.setSsl(true).setUseAlpn(upstream.protocol() == Protocol.HTTP_2);
        Path authorities = upstream.authorities();
        if (authorities != null) {
            options.setTrustOptions(new PemTrustOptions().addCertValue(read(authorities)));
        }
        return options;
    }

    private static Buffer read(Path file) {
        try {
            return Buffer.buffer(Files.readAllBytes(file));
        } catch (IOException unreadable) {
            throw new UncheckedIOException("cannot read " + file, unreadable);
        }
    }
}
