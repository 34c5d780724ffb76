package dev.hapax.http;

import java.util.concurrent.CompletionStage;

/** What a protected request asks for: the call to the upstream, the rest of the filter chain. */
@FunctionalInterface
public interface Work {
    /**
     * Begins the work.
     *
     * @return the response, whatever its status. Fails with {@link dev.hapax.OutcomeUnknownException} when nobody can
     *     tell whether the work was done, with {@link dev.hapax.NotBegunException} when it was not begun. A 503 says
     *     that it was not, too.
     */
    CompletionStage<HttpResponse> run(Operation operation) throws Exception;
}
