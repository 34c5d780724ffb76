package dev.hapax.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.hapax.store.InvalidKeyException.Part;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperationKeyTest {
    private static final String LONGEST = "x".repeat(255);
    private static final String TOO_LONG = "x".repeat(256);

    @ParameterizedTest
    @ValueSource(strings = {"k", "!", "~", "a|b", "\"quoted\"", "550e8400-e29b-41d4-a716-446655440000"})
    void visibleAsciiIsAKey(String key) {
        assertThat(new OperationKey("", "s", key).key()).isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "a b",
                " a",
                "a ",
                "a\tb",
                "a\nb",
                "a\u0000b",
                "\u007f",
                "\u00e9",
                "\u043a",
                "\ud83d\ude00"
            })
    void anythingElseIsNotAKey(String key) {
        refuses(Part.KEY, "", "s", key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "pay ments", "pay\u0001ments", "paiements-\u00e9"})
    void aScopeIsVisibleAsciiToo(String scope) {
        refuses(Part.SCOPE, "", scope, "k");
    }

    @Test
    void everyPartMayHave255Characters() {
        OperationKey key = new OperationKey(LONGEST, LONGEST, LONGEST);

        assertThat(key.key()).hasSize(255);
    }

    @Test
    void aKeyOf256CharactersIsRefused() {
        refuses(Part.KEY, "", "s", TOO_LONG);
    }

    @Test
    void aScopeOf256CharactersIsRefused() {
        refuses(Part.SCOPE, "", TOO_LONG, "k");
    }

    @Test
    void aTenantOf256CharactersIsRefused() {
        refuses(Part.TENANT, TOO_LONG, "s", "k");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "acct_42", "Caf\u00e9 No 1", "\u682a\u5f0f\u4f1a\u793e", "\ud83d\ude00"})
    void aTenantIsAnyText(String tenant) {
        assertThat(new OperationKey(tenant, "s", "k").tenant()).isEqualTo(tenant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u0000", "\n", "a\u007f", "\u0085"})
    void aTenantHasNoControlCharacters(String tenant) {
        refuses(Part.TENANT, tenant, "s", "k");
    }

    @Test
    void aRefusalNamesCharacterAndPosition() {
        assertThatThrownBy(() -> new OperationKey("", "s", "ab c")).hasMessageContainingAll("key", "U+0020", "2");
    }

    @Test
    void noPartIsNull() {
        assertThatNullPointerException()
                .isThrownBy(() -> new OperationKey(null, "s", "k"))
                .withMessageContaining("tenant");
        assertThatNullPointerException()
                .isThrownBy(() -> new OperationKey("", null, "k"))
                .withMessageContaining("scope");
        assertThatNullPointerException()
                .isThrownBy(() -> new OperationKey("", "s", null))
                .withMessageContaining("key");
    }

    private static void refuses(Part part, String tenant, String scope, String key) {
        assertThatThrownBy(() -> new OperationKey(tenant, scope, key))
                .asInstanceOf(type(InvalidKeyException.class))
                .extracting(InvalidKeyException::part)
                .isEqualTo(part);
    }
}
