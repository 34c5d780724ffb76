package dev.hapax.gateway.proxy;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A key and a certificate that vouches for itself, made by the JDK's keytool. */
record TestIdentity(KeyStore keys, Path certificate, Path key) {
    private static final char[] PASSWORD = "password".toCharArray();

    static TestIdentity make(Path directory, String name) throws Exception {
        Path file = directory.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        "it",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=dns:" + name,
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD),
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException(output);
        }
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD);
        }
        Path certificate = directory.resolve(name + ".pem");
        Path key = directory.resolve(name + ".key");
        Files.writeString(
                certificate, pem("CERTIFICATE", keys.getCertificate("it").getEncoded()));
        Files.writeString(key, pem("PRIVATE KEY", keys.getKey("it", PASSWORD).getEncoded()));
        return new TestIdentity(keys, certificate, key);
    }

    private static String pem(String what, byte[] bytes) {
        return "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + what
                + "-----\n";
    }

    /** One file with the certificates of all. */
    static void join(Path file, TestIdentity... identities) throws Exception {
        StringBuilder all = new StringBuilder();
        for (TestIdentity identity : identities) {
            all.append(Files.readString(identity.certificate));
        }
        Files.writeString(file, all);
    }

    /** For a client that believes this one, and shows nothing itself. */
    SSLContext trustingContext() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust(keys.getCertificate("it")), null);
        return context;
    }

    /** For a client that shows this certificate to a server it believes. */
    SSLContext contextTowards(TestIdentity server) throws Exception {
        KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
        managers.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), trust(server.keys.getCertificate("it")), null);
        return context;
    }

    private static javax.net.ssl.TrustManager[] trust(Certificate certificate) throws Exception {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("it", certificate);
            TrustManagerFactory managers = TrustManagerFactory.getInstance("PKIX");
            managers.init(trusted);
            return managers.getTrustManagers();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
