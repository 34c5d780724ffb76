package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.store.OperationKey;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TenantSourceTest {

    private static HttpRequest request(String... headers) {
        return Api.request("", headers);
    }

    private static HttpRequest certified(String subject) {
        return new HttpRequest("POST", "/", "", Headers.NONE, new byte[0], subject);
    }

    @Test
    void withoutASourceAllBelongTogether() {
        assertThat(new TenantSource.None().tenantOf(request("Authorization", "x")))
                .isEmpty();
    }

    @Test
    void headerNamesTheTenant() {
        TenantSource source = new TenantSource.Header("X-Account");
        assertThat(source.tenantOf(request("x-account", "acct_42"))).isEqualTo("header:acct_42");
        assertThat(source.tenantOf(request())).isEmpty();
        assertThat(source.tenantOf(request("X-Account", ""))).isEqualTo("header:");
        assertThatThrownBy(() -> new TenantSource.Header("a b")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void headerSentTwiceIsNeitherOfTheTwo() {
        TenantSource source = new TenantSource.Header("X-Account");
        String both = source.tenantOf(request("X-Account", "a", "X-Account", "b"));
        assertThat(both).startsWith("header#");
        assertThat(both).isNotEqualTo(source.tenantOf(request("X-Account", "b", "X-Account", "a")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u0000", "a\nb", "\u0085", "a\ud800"})
    void whatCannotBeATenantIsHashed(String value) {
        TenantSource source = new TenantSource.Header("X-Account");
        String tenant = source.tenantOf(request("X-Account", value));
        assertThat(tenant).startsWith("header#").hasSize(7 + 64);
        assertThat(new OperationKey(tenant, "scope", "key").tenant()).isEqualTo(tenant);
    }

    @Test
    void longTenantsAreHashedEachToItsOwn() {
        TenantSource source = new TenantSource.Header("X-Account");
        String longest = "a".repeat(248);
        assertThat(source.tenantOf(request("X-Account", longest))).isEqualTo("header:" + longest);
        String one = source.tenantOf(request("X-Account", longest + "b"));
        String other = source.tenantOf(request("X-Account", longest + "c"));
        assertThat(one).startsWith("header#").isNotEqualTo(other);
        assertThat(source.tenantOf(request("X-Account", one.substring("header".length()))))
                .isNotEqualTo(one);
    }

    @Test
    void authorizationIsHashed() {
        TenantSource source = new TenantSource.Authorization();
        String tenant = source.tenantOf(request("Authorization", "Bearer secret"));
        assertThat(tenant).startsWith("auth#").doesNotContain("secret");
        assertThat(source.tenantOf(request("authorization", "Bearer secret"))).isEqualTo(tenant);
        assertThat(source.tenantOf(request("Authorization", "Bearer other"))).isNotEqualTo(tenant);
        assertThat(source.tenantOf(request())).isEmpty();
        assertThat(source.tenantOf(request("Authorization", ""))).isNotEmpty();
    }

    @Test
    void authorizationCanBeHashedWithASecret() {
        HttpRequest request = request("Authorization", "Basic dXNlcjpwYXNz");
        TenantSource keyed = new TenantSource.Authorization(Api.bytes("pepper"));
        assertThat(keyed.tenantOf(request))
                .isEqualTo(new TenantSource.Authorization(Api.bytes("pepper")).tenantOf(request))
                .isNotEqualTo(new TenantSource.Authorization().tenantOf(request));
        assertThat(keyed.toString()).doesNotContain("pepper");
    }

    @Test
    void certificateNamesTheTenant() {
        TenantSource source = new TenantSource.Certificate();
        assertThat(source.tenantOf(certified("CN=shop,O=Example"))).isEqualTo("cert:CN=shop,O=Example");
        assertThat(source.tenantOf(request())).isEmpty();
    }

    @Test
    void tenantsOfDifferentKindsAreNeverTheSame() {
        HttpRequest request =
                new HttpRequest("POST", "/", "", Headers.of("Authorization", "x", "X-Account", "x"), new byte[0], "x");
        List<TenantSource> sources = List.of(
                new TenantSource.None(),
                new TenantSource.Header("X-Account"),
                new TenantSource.Authorization(),
                new TenantSource.JwtClaim("sub", JwtVerifier.trusted()),
                new TenantSource.Certificate());
        assertThat(sources.stream().map(source -> source.tenantOf(request))).doesNotHaveDuplicates();
    }
}
