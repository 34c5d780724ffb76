package dev.hapax.http.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hapax.http.servlet.HapaxFilter.Settings;
import org.junit.jupiter.api.Test;

class SettingsTest {
    @Test
    void settingsAreChangedOneByOne() {
        assertThat(Settings.defaults().maxRequestBody(7).errorPage("/error")).isEqualTo(new Settings(7, "/error"));
    }

    @Test
    void nonsenseIsRefused() {
        assertThatThrownBy(() -> Settings.defaults().maxRequestBody(-1)).hasMessageContaining("maxRequestBody is -1");
        assertThatThrownBy(() -> Settings.defaults().errorPage("error")).hasMessageContaining("begin with a slash");
    }
}
