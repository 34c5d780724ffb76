package dev.hapax.http;

import java.util.List;

/** Whose keys a request uses. */
public sealed interface TenantSource {

    /** The tenant; empty for nobody in particular. */
    String tenantOf(HttpRequest request);

    /** All requests belong together. */
    record None() implements TenantSource {
        @Override
        public String tenantOf(HttpRequest request) {
            return "";
        }
    }

    /** A header that somebody trustworthy sets, such as a proxy that authenticates. */
    record Header(String name) implements TenantSource {
        public Header {
            Tokens.requireFieldName(name);
        }

        @Override
        public String tenantOf(HttpRequest request) {
            List<String> values = request.headers().all(name);
            return switch (values.size()) {
                case 0 -> "";
                case 1 -> Tenants.named("header", values.get(0));
                default -> Tenants.hashed("header", values);
            };
        }
    }

    /** A hash of the {@code Authorization} header; requests without one are anonymous together. */
    record Authorization() implements TenantSource {
        @Override
        public String tenantOf(HttpRequest request) {
            List<String> values = request.headers().all("Authorization");
            return values.isEmpty() ? "" : Tenants.hashed("auth", values);
        }
    }

    /** A claim of the bearer token. */
    record JwtClaim(String claim, JwtVerifier verifier) implements TenantSource {
        @Override
        public String tenantOf(HttpRequest request) {
            throw new UnsupportedOperationException();
        }
    }

    /** The subject of the client's certificate. */
    record Certificate() implements TenantSource {
        @Override
        public String tenantOf(HttpRequest request) {
            String subject = request.certificateSubject();
            return subject == null ? "" : Tenants.named("cert", subject);
        }
    }
}
