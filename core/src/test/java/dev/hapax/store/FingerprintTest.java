package dev.hapax.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FingerprintTest {
    private static final String SHA_256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    @Test
    void isTheSha256OfTheRequest() {
        assertThat(Fingerprint.of(new byte[] {'a', 'b', 'c'})).hasToString(SHA_256_OF_ABC);
    }

    @Test
    void equalRequestsHaveEqualFingerprints() {
        assertThat(Fingerprint.of(new byte[] {1, 2}))
                .isEqualTo(Fingerprint.of(new byte[] {1, 2}))
                .hasSameHashCodeAs(Fingerprint.of(new byte[] {1, 2}));
    }

    @Test
    void otherRequestsHaveOtherFingerprints() {
        assertThat(Fingerprint.of(new byte[] {1, 2})).isNotEqualTo(Fingerprint.of(new byte[] {1, 3}));
    }

    @Test
    void noneIsTheEmptyRequest() {
        assertThat(Fingerprint.NONE).isEqualTo(Fingerprint.of(new byte[0]));
    }

    @Test
    void comesBackFromItsDigest() {
        Fingerprint fingerprint = Fingerprint.of(new byte[] {1});

        assertThat(Fingerprint.ofDigest(fingerprint.digest())).isEqualTo(fingerprint);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 16, 31, 33})
    void aDigestOfAnotherLengthIsRefused(int length) {
        assertThatIllegalArgumentException().isThrownBy(() -> Fingerprint.ofDigest(new byte[length]));
    }

    @Test
    void cannotBeChangedThroughTheArrayItWasMadeFrom() {
        byte[] digest = HexFormat.of().parseHex(SHA_256_OF_ABC);
        Fingerprint fingerprint = Fingerprint.ofDigest(digest);
        digest[0]++;

        assertThat(fingerprint).hasToString(SHA_256_OF_ABC);
    }

    @Test
    void cannotBeChangedThroughTheArrayItGives() {
        Fingerprint fingerprint = Fingerprint.of(new byte[] {'a', 'b', 'c'});
        fingerprint.digest()[0]++;

        assertThat(fingerprint).hasToString(SHA_256_OF_ABC);
    }
}
