package dev.hapax.gateway.config;

import dev.hapax.gateway.proxy.GatewaySettings.ClientCertificates;
import dev.hapax.gateway.proxy.GatewaySettings.Forwarding;
import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import dev.hapax.gateway.proxy.GatewaySettings.Tls;
import java.nio.file.Path;
import java.time.Duration;

/** How the side towards clients is described. */
final class ServerSettings {
    private static final Setting<Path> CERTIFICATE = Setting.required(
            "certificate", Scalars.FILE, "A PEM file with the certificate and those that vouch for it");
    private static final Setting<Path> KEY =
            Setting.required("key", Scalars.FILE, "A PEM file with its private key, PKCS#8");
    private static final Setting<Path> CLIENT_CA = Setting.optional(
            "client-ca", Scalars.FILE, "A PEM file with the authorities whose client certificates are accepted");
    private static final Setting<ClientCertificates> CLIENT_CERTIFICATES = Setting.optional(
            "client-certificates",
            Scalars.words(
                    "required or optional",
                    Scalars.ordered("required", ClientCertificates.REQUIRED, "optional", ClientCertificates.OPTIONAL)),
            "With client-ca, whether clients must show a certificate (`required`) or may (`optional`)");

    static final Section<Tls> TLS =
            Section.of("certificate and key", ServerSettings::tls, CERTIFICATE, KEY, CLIENT_CA, CLIENT_CERTIFICATES);

    private static final Setting<Integer> BODY = Setting.of(
            "body", Scalars.SIZE, "1MiB", "The largest request body on a protected route; others may be of any size");
    private static final Setting<Integer> REQUEST_LINE =
            Setting.of("request-line", Scalars.SIZE, "8KiB", "The longest request line");
    private static final Setting<Integer> HEADERS =
            Setting.of("headers", Scalars.SIZE, "16KiB", "The largest head of a request");
    private static final Setting<Duration> IDLE_TIMEOUT =
            Setting.of("idle-timeout", Scalars.DURATION, "75s", "How long a connection may be open without a request");
    private static final Setting<Duration> HEAD_TIMEOUT = Setting.of(
            "head-timeout", Scalars.DURATION, "10s", "How long a new connection may take to its first request");
    private static final Setting<Duration> BODY_TIMEOUT = Setting.of(
            "body-timeout",
            Scalars.DURATION,
            "30s",
            "How long the body of a protected request may take, and how long any other may stall");
    private static final Setting<Integer> CONNECTIONS = Setting.of(
            "connections",
            Scalars.count(1, 1_000_000),
            "20000",
            "How many clients may be connected at a time; more are turned away");

    static final Section<Limits> LIMITS = Section.of(
            "limits",
            ServerSettings::limits,
            BODY,
            REQUEST_LINE,
            HEADERS,
            IDLE_TIMEOUT,
            HEAD_TIMEOUT,
            BODY_TIMEOUT,
            CONNECTIONS);

    private static final Setting<Boolean> TRUST_CLIENT = Setting.of(
            "trust-client",
            Scalars.YES_OR_NO,
            "false",
            "Whether `Forwarded` and `X-Forwarded-*` of a request are believed, because a proxy of yours sent it");
    private static final Setting<Boolean> PRESERVE_HOST = Setting.of(
            "preserve-host",
            Scalars.YES_OR_NO,
            "true",
            "Whether the upstream sees the `Host` that the client asked for");
    private static final Setting<String> VIA = Setting.optional(
            "via", Scalars.HEADER_NAME, "The name under which `Via` tells of this gateway; none unless set");

    static final Section<Forwarding> FORWARDING =
            Section.of("forwarding", ServerSettings::forwarding, TRUST_CLIENT, PRESERVE_HOST, VIA);

    private ServerSettings() {}

    private static Tls tls(Values values) {
        boolean asks = values.has(CLIENT_CA);
        if (!asks && values.has(CLIENT_CERTIFICATES)) {
            values.refuse(
                    CLIENT_CERTIFICATES, "tls.client-ca is missing: say who vouches for the certificates of clients");
        }
        ClientCertificates clients =
                asks ? values.find(CLIENT_CERTIFICATES).orElse(ClientCertificates.REQUIRED) : ClientCertificates.NONE;
        return new Tls(values.get(CERTIFICATE), values.get(KEY), clients, values.orNull(CLIENT_CA));
    }

    private static Limits limits(Values values) {
        return new Limits(
                values.get(BODY),
                values.get(REQUEST_LINE),
                values.get(HEADERS),
                values.get(IDLE_TIMEOUT),
                values.get(HEAD_TIMEOUT),
                values.get(BODY_TIMEOUT),
                values.get(CONNECTIONS));
    }

    private static Forwarding forwarding(Values values) {
        return new Forwarding(values.get(TRUST_CLIENT), values.get(PRESERVE_HOST), values.orNull(VIA));
    }
}
