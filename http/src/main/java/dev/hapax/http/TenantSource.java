package dev.hapax.http;

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
        @Override
        public String tenantOf(HttpRequest request) {
            throw new UnsupportedOperationException();
        }
    }

    /** A hash of the {@code Authorization} header; requests without one are anonymous together. */
    record Authorization() implements TenantSource {
        @Override
        public String tenantOf(HttpRequest request) {
            throw new UnsupportedOperationException();
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
            throw new UnsupportedOperationException();
        }
    }
}
