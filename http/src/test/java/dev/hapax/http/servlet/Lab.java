package dev.hapax.http.servlet;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.http.FingerprintRule;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.HttpPolicy.ServerErrors;
import dev.hapax.http.KeySource;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import dev.hapax.http.Routes;
import dev.hapax.http.TenantSource;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.WhenAbandoned;
import dev.hapax.testkit.http.ContractApplication;
import dev.hapax.testkit.http.HttpSubject;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A servlet that does what the test says, behind the filter. */
final class Lab extends HttpSubject {
    static final int MAX_REQUEST_BODY = 64 << 10;
    static final int MAX_BODY = 1 << 20;

    private final Map<String, Script> scripts = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
    private final URI base;

    @FunctionalInterface
    interface Script {
        void run(HttpServletRequest request, HttpServletResponse response) throws Exception;
    }

    private Lab(Container container, String contextPath, HapaxFilter filter, EnumSet<DispatcherType> dispatches) {
        Map<String, HttpServlet> servlets = Map.of("/*", new ScriptServlet(), "/fragile/*", new ScriptServlet());
        try {
            base = container.start(new Container.Site(contextPath, filter, servlets, dispatches));
        } catch (Exception failed) {
            throw new IllegalStateException(container + " did not start", failed);
        }
    }

    static Lab in(Container container) {
        return in(container, "/", HapaxFilter.Settings.defaults().maxRequestBody(MAX_REQUEST_BODY));
    }

    static Lab in(Container container, String contextPath, HapaxFilter.Settings settings) {
        HapaxFilter filter = new HapaxFilter(idempotency(), settings);
        return new Lab(container, contextPath, filter, EnumSet.allOf(DispatcherType.class));
    }

    /** With a filter that hears of requests only. */
    static Lab mappedForRequestsOnly(Container container) {
        return new Lab(container, "/", new HapaxFilter(idempotency()), EnumSet.of(DispatcherType.REQUEST));
    }

    private static HttpIdempotency idempotency() {
        Policy policy = Policy.defaults().maxBody(MAX_BODY).whenAbandoned(WhenAbandoned.PARK);
        Hapax hapax = Hapax.on(new MemoryStore())
                .scope("lab", policy)
                .scope("released", policy)
                .scope("wait", policy.whenInFlight(WhenInFlight.waitAtMost(Duration.ofMinutes(1))))
                .build();
        HttpPolicy releasing = new HttpPolicy(true, ServerErrors.RELEASE, FingerprintRule.WHOLE, Set.of());
        KeySource key = KeySource.Header.DEFAULT;
        Routes routes = new Routes(List.of(
                new Route("POST", PathPattern.of("/lab/{name}"), "lab", key, HttpPolicy.defaults()),
                new Route("POST", PathPattern.of("/wait/{name}"), "wait", key, HttpPolicy.defaults()),
                new Route("POST", PathPattern.of("/fragile/{name}"), "lab", key, HttpPolicy.defaults()),
                new Route("POST", PathPattern.of("/released/{name}"), "released", key, releasing)));
        return new HttpIdempotency(hapax, routes, new TenantSource.None());
    }

    /** A path where the script runs, protected if POSTed to. */
    String on(Script script) {
        return on("/lab/", script);
    }

    String on(String folder, Script script) {
        String path = folder + UUID.randomUUID();
        at(path, script);
        return path;
    }

    void at(String path, Script script) {
        scripts.put(path, script);
        runs.put(path, new AtomicInteger());
    }

    int runs(String path) {
        return runs.get(path).get();
    }

    @Override
    protected URI base(Version version) {
        return base;
    }

    @Override
    protected ContractApplication application() {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void cutStore() {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void mendStore() {
        throw new UnsupportedOperationException();
    }

    private static String path(HttpServletRequest request) {
        Object included = request.getAttribute(RequestDispatcher.INCLUDE_PATH_INFO);
        return included == null ? request.getServletPath() + request.getPathInfo() : included.toString();
    }

    private final class ScriptServlet extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws IOException, ServletException {
            String path = path(request);
            Script script = scripts.get(path);
            if (script == null) {
                response.setStatus(404);
                return;
            }
            runs.get(path).incrementAndGet();
            try {
                script.run(request, response);
            } catch (IOException | ServletException | RuntimeException thrown) {
                throw thrown;
            } catch (Exception thrown) {
                throw new ServletException(thrown);
            }
        }
    }
}
