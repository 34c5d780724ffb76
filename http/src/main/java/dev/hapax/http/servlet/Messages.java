package dev.hapax.http.servlet;

import dev.hapax.http.Headers;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpRequest;
import dev.hapax.http.HttpResponse;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Translates between the servlet API's messages and ours. */
final class Messages {
    private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS", "TRACE");
    private static final Set<Integer> BODILESS = Set.of(204, 205, 304);
    private static final Set<String> OF_ONE_CONNECTION =
            Set.of("connection", "keep-alive", "proxy-connection", "upgrade");
    private static final String CERTIFICATES = "jakarta.servlet.request.X509Certificate";

    private Messages() {}

    /**
     * The path below the context path, nothing decoded.
     *
     * @throws ProblemException when the context path is spelled in a way that only the container can read
     */
    static String path(HttpServletRequest request) {
        String context = request.getContextPath();
        String uri = request.getRequestURI();
        if (uri.equals(context)) {
            return "/";
        } else if (uri.startsWith(context)) {
            return uri.substring(context.length());
        } else if (SAFE.contains(request.getMethod())) {
            return uri;
        }
        throw new ProblemException(Problem.PATH_AMBIGUOUS, "the path does not begin with " + context);
    }

    static Headers headers(HttpServletRequest request) {
        List<Headers.Field> fields = new ArrayList<>();
        for (String name : Collections.list(request.getHeaderNames())) {
            for (String value : Collections.list(request.getHeaders(name))) {
                fields.add(new Headers.Field(name, value));
            }
        }
        return new Headers(fields);
    }

    static HttpRequest request(HttpServletRequest request, Headers headers, byte[] body) {
        String query = request.getQueryString();
        return new HttpRequest(
                request.getMethod(),
                path(request),
                query == null ? "" : query,
                headers,
                body,
                certificateSubject(request));
    }

    private static @Nullable String certificateSubject(HttpServletRequest request) {
        return request.getAttribute(CERTIFICATES) instanceof X509Certificate[] chain && chain.length > 0
                ? chain[0].getSubjectX500Principal().getName()
                : null;
    }

    /** Sends a response that is whole. */
    static void send(HttpServletRequest request, HttpServletResponse response, HttpResponse answer) throws IOException {
        sendHead(request, response, answer);
        if (hasBody(answer.status()) && !request.getMethod().equals("HEAD")) {
            response.setContentLength(answer.body().length);
            response.getOutputStream().write(answer.body());
        }
    }

    static void sendHead(HttpServletRequest request, HttpServletResponse response, HttpResponse answer) {
        response.setStatus(answer.status());
        Set<String> begun = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        for (Headers.Field field : sendable(answer.headers(), request).fields()) {
            String value = belowContext(request.getContextPath(), field);
            if (begun.add(field.name())) {
                response.setHeader(field.name(), value);
            } else {
                response.addHeader(field.name(), value);
            }
        }
    }

    /** To later versions than HTTP/1.1 a header about the connection is an error, and not every container drops it. */
    private static Headers sendable(Headers headers, HttpServletRequest request) {
        return request.getProtocol().startsWith("HTTP/1.")
                ? headers
                : headers.without(name -> OF_ONE_CONNECTION.contains(name.toLowerCase(Locale.ROOT)));
    }

    /** What the filter serves itself is below the context path, of which only the filter knows. */
    private static String belowContext(String context, Headers.Field field) {
        String value = field.value();
        return switch (field.name().toLowerCase(Locale.ROOT)) {
            case "location" -> value.startsWith(HttpIdempotency.RESERVED_PATH) ? context + value : value;
            case "link" ->
                value.startsWith("<" + HttpIdempotency.RESERVED_PATH) ? "<" + context + value.substring(1) : value;
            default -> value;
        };
    }

    static boolean hasBody(int status) {
        return !BODILESS.contains(status);
    }
}
