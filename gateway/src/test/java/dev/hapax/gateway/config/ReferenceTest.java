package dev.hapax.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The reference page tells of every setting there is. */
class ReferenceTest {

    @Test
    void thePageHasTheTableOfTheSettings() throws IOException {
        assertThat(Files.readString(Path.of("../docs/configuration.md")))
                .as("replace the table by what ./hapax config --reference prints")
                .contains(Reference.markdown());
    }

    @Test
    void everySettingHasASentence() {
        assertThat(SettingPath.all())
                .allSatisfy(path -> path.setting()
                        .ifPresent(setting ->
                                assertThat(setting.doc()).as(path.text()).hasSizeGreaterThan(10)));
    }

    @Test
    void noTwoSettingsHaveTheSameVariable() {
        assertThat(SettingPath.all()).extracting(SettingPath::variable).doesNotHaveDuplicates();
    }
}
