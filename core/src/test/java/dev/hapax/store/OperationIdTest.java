package dev.hapax.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OperationIdTest {

    @Test
    void isTheSameInEveryProcess() {
        assertThat(id("acct_42", "payments", "k-1"))
                .isEqualTo(new OperationId(UUID.fromString("43efaa7e-4e86-4c09-6895-6300fd0a7a0d")));
    }

    @Test
    void differsByTenant() {
        assertThat(id("a", "s", "k")).isNotEqualTo(id("b", "s", "k"));
    }

    @Test
    void differsByScope() {
        assertThat(id("a", "s", "k")).isNotEqualTo(id("a", "t", "k"));
    }

    @Test
    void differsByKey() {
        assertThat(id("a", "s", "k")).isNotEqualTo(id("a", "s", "l"));
    }

    @Test
    void charactersDoNotMoveBetweenParts() {
        List<OperationId> ids = List.of(
                id("a", "b|c", "d"), id("a|b", "c", "d"), id("a", "b", "c|d"), id("ab", "c", "d"), id("a", "bc", "d"));

        assertThat(Set.copyOf(ids)).hasSameSizeAs(ids);
    }

    /** Two tenants never see each other's keys: what UTF-8 cannot tell apart must not name a tenant. */
    @Test
    void tenantsThatUtf8CannotTellApartNeverShareAnOperation() {
        Set<OperationId> ids = new HashSet<>();
        int tenants = 0;
        for (String tenant : List.of("a\ud800", "a\udfff", "a?")) {
            try {
                ids.add(id(tenant, "s", "k"));
                tenants++;
            } catch (InvalidKeyException refused) {
                assertThat(refused.part()).isEqualTo(InvalidKeyException.Part.TENANT);
            }
        }

        assertThat(ids).hasSize(tenants);
    }

    @Test
    void isOrderedLikeItsValue() {
        OperationId low = new OperationId(new UUID(0, 1));
        OperationId high = new OperationId(new UUID(0, 2));

        assertThat(low).isLessThan(high);
    }

    private static OperationId id(String tenant, String scope, String key) {
        return new OperationKey(tenant, scope, key).id();
    }
}
