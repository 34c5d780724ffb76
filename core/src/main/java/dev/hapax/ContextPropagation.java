package dev.hapax;

import java.util.function.UnaryOperator;

/**
 * Carries what belongs to the caller's thread, such as a logging context (MDC) or a trace, to the thread on which its
 * handler runs. Safe for use by many threads.
 *
 * <pre>{@code
 * ContextPropagation mdc = () -> {
 *     Map<String, String> context = MDC.getCopyOfContextMap();
 *     return task -> () -> {
 *         MDC.setContextMap(context);
 *         try {
 *             task.run();
 *         } finally {
 *             MDC.clear();
 *         }
 *     };
 * };
 * }</pre>
 */
@FunctionalInterface
public interface ContextPropagation {
    /** Carries nothing. */
    ContextPropagation NONE = UnaryOperator::identity;

    /**
     * Called on the caller's thread.
     *
     * @return what wraps the handler, on the thread where it runs
     */
    UnaryOperator<Runnable> capture();
}
