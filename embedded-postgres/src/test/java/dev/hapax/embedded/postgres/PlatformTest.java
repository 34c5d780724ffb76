package dev.hapax.embedded.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {

    @ParameterizedTest
    @CsvSource({
        "Linux, amd64, postgres-linux-x86_64.txz",
        "Linux, aarch64, postgres-linux-arm_64.txz",
        "Mac OS X, x86_64, postgres-darwin-x86_64.txz",
        "Mac OS X, aarch64, postgres-darwin-arm_64.txz",
        "Windows 11, amd64, postgres-windows-x86_64.txz"
    })
    void everySupportedPlatformHasItsArchive(String os, String arch, String archive) {
        assertThat(Platform.of(os, arch).archiveName()).isEqualTo(archive);
    }

    @Test
    void unsupportedPlatformIsNamedWithAWayOut() {
        assertThatThrownBy(() -> Platform.of("SunOS", "sparcv9"))
                .isInstanceOfSatisfying(
                        EmbeddedPostgresException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.UNSUPPORTED_PLATFORM))
                .hasMessageContaining("sunos on sparcv9")
                .hasMessageContaining("binaries(Path)");
    }
}
