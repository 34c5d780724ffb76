package dev.hapax.http;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Whose keys a request uses. Immutable.
 *
 * <p>A tenant begins with its kind, so that tenants of different kinds are never the same one. What cannot be a tenant
 * as it is (too long, control characters, a header sent twice) is hashed.
 */
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

    /**
     * A header that somebody trustworthy sets, such as a proxy that authenticates: whoever can set it himself can be
     * anybody. Requests without it are anonymous together.
     */
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

    /**
     * A hash of the {@code Authorization} header; requests without one are anonymous together.
     *
     * @param secret the key of the hash, so that nobody who reads the store can try passwords on it; empty for none
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Authorization(byte[] secret) implements TenantSource {
        public Authorization() {
            this(new byte[0]);
        }

        public Authorization {
            secret = secret.clone();
        }

        @Override
        public String tenantOf(HttpRequest request) {
            List<String> values = request.headers().all("Authorization");
            return values.isEmpty() ? "" : Tenants.hashed("auth", secret, values);
        }

        @Override
        public String toString() {
            return "Authorization[]";
        }
    }

    /**
     * A claim of the bearer token, a string or a number; requests without an {@code Authorization} header are anonymous
     * together.
     *
     * <p>Who sends something else than a genuine token with that claim is neither anonymous nor who he claims to be,
     * but a tenant of his own: a hash of what he sent.
     *
     * @param claim the name of the claim
     */
    record JwtClaim(String claim, JwtVerifier verifier) implements TenantSource {
        private static final String SCHEME = "bearer ";

        @Override
        public String tenantOf(HttpRequest request) {
            List<String> values = request.headers().all("Authorization");
            if (values.isEmpty()) {
                return "";
            }
            Optional<String> genuine =
                    values.size() == 1 ? claimOf(values.get(0).strip()) : Optional.empty();
            return genuine.map(name -> Tenants.named("jwt", name))
                    .orElseGet(() -> Tenants.hashed("unverified", values));
        }

        private Optional<String> claimOf(String authorization) {
            if (!authorization.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
                return Optional.empty();
            }
            JsonPointer pointer = JsonPointer.of('/' + claim.replace("~", "~0").replace("/", "~1"));
            return verifier.claim(authorization.substring(SCHEME.length()).strip(), pointer);
        }
    }

    /** The subject of the client's certificate; requests without one are anonymous together. */
    record Certificate() implements TenantSource {
        @Override
        public String tenantOf(HttpRequest request) {
            String subject = request.certificateSubject();
            return subject == null ? "" : Tenants.named("cert", subject);
        }
    }
}
