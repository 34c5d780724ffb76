package dev.hapax.http.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.testkit.http.Probe;
import dev.hapax.testkit.http.Probe.Request;
import jakarta.servlet.DispatcherType;
import java.net.http.HttpClient.Version;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A filter that is not mapped as it should be. */
class MappingTest {

    @ParameterizedTest
    @EnumSource(Container.class)
    void whatADispatchMadeUnseenIsStoredAllTheSame(Container container) {
        Lab lab = Lab.mappedForRequestsOnly(container);
        String path = lab.on((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.REQUEST) {
                request.startAsync().dispatch();
            } else {
                response.getOutputStream().print("unseen");
            }
        });
        Request charge = Probe.fresh(lab, Version.HTTP_1_1).post(path);
        charge.send();

        assertThat(charge.sendUntilReplayed().text()).isEqualTo("unseen");
        assertThat(lab.runs(path)).isEqualTo(2); // passes, both of the first request
    }
}
