package dev.hapax.http.servlet;

import dev.hapax.testkit.http.Answer;
import dev.hapax.testkit.http.Probe;
import dev.hapax.testkit.http.Probe.Request;
import java.net.http.HttpClient.Version;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What tests of the filter in a container stand on. */
@ParameterizedClass(name = "{0}")
@EnumSource(Version.class)
abstract class FilterTesting {
    @Parameter
    Version version;

    abstract Lab lab();

    Probe http() {
        return Probe.shared(lab(), version);
    }

    /** A protected request that runs the script. */
    Request request(Lab.Script script) {
        return http().post(lab().on(script));
    }

    /** Sends it twice: what the script made comes back both times, and it ran once. */
    Answer sendTwice(Request request) {
        Answer first = request.send().assertKnown();
        Answer second = request.send().assertReplays(first);
        org.assertj.core.api.Assertions.assertThat(second.all("Content-Type")).isEqualTo(first.all("Content-Type"));
        return first;
    }

    int runs(Request request) {
        return lab().runs(request.path());
    }
}
