package dev.hapax.gateway.proxy;

import io.vertx.core.http.HttpServerRequest;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/** The certificate that a client has shown and somebody we trust has vouched for. */
final class ClientCertificate {
    private ClientCertificate() {}

    /** Its distinguished name (RFC 2253); empty where there is none. */
    static @Nullable String subjectOf(HttpServerRequest request) {
        if (!request.isSSL()) {
            return null;
        }
        try {
            List<Certificate> shown = request.connection().peerCertificates();
            return !shown.isEmpty() && shown.get(0) instanceof X509Certificate certificate
                    ? certificate.getSubjectX500Principal().getName()
                    : null;
        } catch (SSLPeerUnverifiedException none) {
            return null;
        }
    }
}
