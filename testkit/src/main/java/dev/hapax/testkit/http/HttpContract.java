package dev.hapax.testkit.http;

import java.net.http.HttpClient.Version;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What an HTTP adapter promises, as tests over real sockets, in HTTP/1.1 and in HTTP/2. An adapter passes when a
 * subclass that gives it is green, and one of {@link HostileContract} too:
 *
 * <pre>{@code
 * class MyServerTest extends HttpContract {
 *     @Override protected HttpSubject subject() { return MyServer.STARTED_ONCE; }
 * }
 * }</pre>
 */
@ParameterizedClass(name = "{0}")
@EnumSource(Version.class)
public abstract class HttpContract
        implements TableTests, StoredTests, KeyTests, FingerprintTests, TenantTests, StatusTests, CrowdTests {
    @Parameter
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Version version;

    /** What is under test: the same one for all tests. */
    protected abstract HttpSubject subject();

    @Override
    public final Probe http() {
        return Probe.shared(subject(), version);
    }

    @Override
    public final Probe someoneElse() {
        return Probe.fresh(subject(), version);
    }
}
