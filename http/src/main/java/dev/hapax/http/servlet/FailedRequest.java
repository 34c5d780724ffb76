package dev.hapax.http.servlet;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A request as an error page sees it, with the attributes that tell what went wrong. The container's own request must
 * not have them: to the container everything went well.
 */
final class FailedRequest extends HttpServletRequestWrapper {
    private final Map<String, Object> failure = new HashMap<>();

    FailedRequest(HttpServletRequest request, ErrorPage.Failure failure) {
        super(request);
        tell(RequestDispatcher.ERROR_STATUS_CODE, failure.status());
        tell(RequestDispatcher.ERROR_MESSAGE, failure.message() == null ? "" : failure.message());
        tell(RequestDispatcher.ERROR_REQUEST_URI, request.getRequestURI());
        tell(RequestDispatcher.ERROR_QUERY_STRING, request.getQueryString());
        tell(RequestDispatcher.ERROR_METHOD, request.getMethod());
        tell(
                RequestDispatcher.ERROR_SERVLET_NAME,
                request.getHttpServletMapping().getServletName());
        Throwable thrown = failure.thrown();
        if (thrown != null) {
            tell(RequestDispatcher.ERROR_EXCEPTION, thrown);
            tell(RequestDispatcher.ERROR_EXCEPTION_TYPE, thrown.getClass());
        }
    }

    private void tell(String name, @Nullable Object value) {
        if (value != null) {
            failure.put(name, value);
        }
    }

    @Override
    public @Nullable Object getAttribute(String name) {
        Object told = failure.get(name);
        return told == null ? super.getAttribute(name) : told;
    }

    @Override
    public Enumeration<String> getAttributeNames() {
        Set<String> names = new TreeSet<>(failure.keySet());
        names.addAll(Collections.list(super.getAttributeNames()));
        return Collections.enumeration(names);
    }
}
