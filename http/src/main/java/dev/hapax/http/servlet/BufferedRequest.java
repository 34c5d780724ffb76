package dev.hapax.http.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpUpgradeHandler;
import jakarta.servlet.http.Part;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body was read before the servlet came to it: as a stream, by a reader, as a form's parameters or as
 * parts. The container cannot parse what it no longer has, so forms and parts are parsed here.
 */
final class BufferedRequest extends HttpServletRequestWrapper {
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String MULTIPART = "multipart/form-data";

    private final HttpServletRequest request;
    private final byte[] body;
    private final Exchange exchange;
    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;
    private @Nullable Map<String, String[]> parameters;
    private @Nullable List<BufferedPart> parts;

    BufferedRequest(HttpServletRequest request, byte[] body, Exchange exchange) {
        super(request);
        this.request = request;
        this.body = body;
        this.exchange = exchange;
    }

    @Override
    public ServletInputStream getInputStream() {
        if (reader != null) {
            throw new IllegalStateException("getReader was called before");
        }
        if (stream == null) {
            stream = new BufferedInput(body, exchange);
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (stream != null) {
            throw new IllegalStateException("getInputStream was called before");
        }
        if (reader == null) {
            Charset charset = charset(ContentType.isJson(getContentType()) ? StandardCharsets.UTF_8 : null);
            reader = new BufferedReader(new InputStreamReader(new ByteArrayInputStream(body), charset));
        }
        return reader;
    }

    private Charset charset(@Nullable Charset otherwise) throws java.io.UnsupportedEncodingException {
        String name = getCharacterEncoding();
        try {
            if (name == null) {
                return otherwise == null ? StandardCharsets.ISO_8859_1 : otherwise;
            }
            return Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException unknown) {
            java.io.UnsupportedEncodingException refused = new java.io.UnsupportedEncodingException(name);
            refused.initCause(unknown);
            throw refused;
        }
    }

    @Override
    public @Nullable String getParameter(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : values[0];
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : values.clone();
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return Collections.enumeration(getParameterMap().keySet());
    }

    /** Those of the query first. */
    @Override
    public Map<String, String[]> getParameterMap() {
        if (parameters == null) {
            Map<String, String[]> all = new LinkedHashMap<>(super.getParameterMap());
            bodyParameters().forEach((name, values) -> all.merge(name, values, BufferedRequest::concat));
            parameters = Collections.unmodifiableMap(all);
        }
        return parameters;
    }

    private Map<String, String[]> bodyParameters() {
        try {
            if (hasType(FORM)) {
                return Parameters.ofForm(body, charset(StandardCharsets.UTF_8));
            }
            return hasType(MULTIPART) ? Parameters.ofParts(parts(), charset(StandardCharsets.UTF_8)) : Map.of();
        } catch (IOException | ServletException | IllegalArgumentException broken) {
            throw new IllegalStateException("the body has no parameters that can be read", broken);
        }
    }

    private boolean hasType(String type) {
        String given = getContentType();
        return given != null
                && given.replaceFirst(";.*$", "")
                        .strip()
                        .toLowerCase(Locale.ROOT)
                        .equals(type);
    }

    private static String[] concat(String[] first, String[] second) {
        String[] all = java.util.Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, all, first.length, second.length);
        return all;
    }

    @Override
    public Collection<Part> getParts() throws ServletException {
        return Collections.unmodifiableCollection(parts());
    }

    @Override
    public @Nullable Part getPart(String name) throws ServletException {
        return parts().stream()
                .filter(part -> part.getName().equals(name))
                .findFirst()
                .orElse(null);
    }

    private List<BufferedPart> parts() throws ServletException {
        if (!hasType(MULTIPART)) {
            throw new ServletException("the request is not multipart/form-data");
        }
        if (parts == null) {
            parts = FormParts.parse(getContentType(), body, getServletContext());
        }
        return parts;
    }

    @Override
    public @Nullable RequestDispatcher getRequestDispatcher(String path) {
        RequestDispatcher dispatcher = super.getRequestDispatcher(path);
        return dispatcher == null ? null : new ClearingDispatcher(dispatcher);
    }

    @Override
    public AsyncContext startAsync() {
        return exchange.startAsync(this, exchange.presented());
    }

    @Override
    public AsyncContext startAsync(ServletRequest with, ServletResponse and) {
        return exchange.startAsync(with, and);
    }

    @Override
    public AsyncContext getAsyncContext() {
        GuardedAsyncContext async = exchange.async();
        return async == null ? request.getAsyncContext() : async;
    }

    /** There is no response to keep in another protocol. */
    @Override
    public <T extends HttpUpgradeHandler> T upgrade(Class<T> handler) {
        throw new IllegalStateException("a protected request cannot be upgraded");
    }
}
