package dev.hapax.gateway.proxy;

import dev.hapax.http.Headers;
import dev.hapax.http.Headers.Field;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The head of a request that can be read in one way only. Whatever two readers might read differently is refused, so
 * that what the upstream gets is what was looked at here.
 *
 * @param target as it stood on the request line
 * @param path what of the target comes before the question mark
 * @param query what comes after it; empty when there is none
 * @param host what the client asked for; empty where HTTP/1.0 did not say
 * @param headers without {@code Host}
 * @param length of the body: {@link #UNKNOWN} where only its end will tell
 */
record RequestHead(
        HttpMethod method, String target, String path, String query, String host, Headers headers, long length) {
    static final long UNKNOWN = -1;

    private static final int MOST_DIGITS = 18;

    /** @throws ProblemException when it cannot be read, or in more than one way */
    static RequestHead of(HttpServerRequest request) {
        String method = request.method().name();
        require(isToken(method), "the method is not a token");
        require(!request.method().equals(HttpMethod.CONNECT), "tunnels are not offered");
        String target = request.uri();
        requireOriginForm(method, target);
        Headers all = headersOf(request);
        require(
                HopByHop.named(all).stream().allMatch(name -> name.isEmpty() || isToken(name)),
                "Connection is not a list");
        int question = target.indexOf('?');
        return new RequestHead(
                request.method(),
                target,
                question < 0 ? target : target.substring(0, question),
                question < 0 ? "" : target.substring(question + 1),
                hostOf(request, all),
                withOneCookie(request, all.without("Host"::equalsIgnoreCase)),
                lengthOf(request, all));
    }

    /** Whether the client waits to be told that its body is welcome. */
    boolean expectsContinue() {
        return headers.first("Expect")
                .filter(value -> value.trim().equalsIgnoreCase("100-continue"))
                .isPresent();
    }

    /** Whether the client asks to speak WebSocket from here on. */
    boolean wantsWebSocket(HttpVersion version) {
        List<String> upgrade = headers.all("Upgrade");
        return version == HttpVersion.HTTP_1_1
                && method.equals(HttpMethod.GET)
                && length == 0
                && upgrade.size() == 1
                && upgrade.get(0).trim().equalsIgnoreCase("websocket")
                && HopByHop.names(headers, "upgrade");
    }

    private static void requireOriginForm(String method, String target) {
        boolean asterisk = target.equals("*") && method.equals("OPTIONS");
        require(asterisk || target.startsWith("/"), "the target is not a path");
        for (int i = 0; i < target.length(); i++) {
            char c = target.charAt(i);
            require(c > ' ' && c < 0x7f && c != '#', "the target holds a character that must be encoded");
        }
    }

    private static Headers headersOf(HttpServerRequest request) {
        List<Field> fields = new ArrayList<>();
        for (Map.Entry<String, String> header : request.headers()) {
            require(isToken(header.getKey()), "the name of a header is not a token");
            require(isFieldValue(header.getValue()), "a header holds a control character");
            fields.add(new Field(header.getKey(), header.getValue()));
        }
        return new Headers(fields);
    }

    private static String hostOf(HttpServerRequest request, Headers headers) {
        if (request.version() == HttpVersion.HTTP_1_0 && !headers.contains("Host")) {
            return "";
        }
        require(headers.all("Host").size() <= 1, "there is more than one Host");
        require(request.authority() != null, "there is no valid Host");
        return request.version() == HttpVersion.HTTP_2
                ? request.authority().toString()
                : headers.first("Host").orElse("").trim();
    }

    private static long lengthOf(HttpServerRequest request, Headers headers) {
        List<String> codings = headers.all("Transfer-Encoding");
        List<String> lengths = headers.all("Content-Length");
        if (!codings.isEmpty()) {
            boolean chunked = codings.size() == 1 && codings.get(0).trim().equalsIgnoreCase("chunked");
            require(
                    chunked && lengths.isEmpty() && request.version() == HttpVersion.HTTP_1_1,
                    "the transfer encoding is not understood");
            return UNKNOWN;
        }
        if (lengths.isEmpty()) {
            return request.version() == HttpVersion.HTTP_2 ? UNKNOWN : 0;
        }
        String length = lengths.get(0).trim();
        require(lengths.size() == 1 && isLength(length), "the content length is not a number");
        return Long.parseLong(length);
    }

    /** HTTP/2 may split cookies; HTTP/1.1 has no such thing. */
    private static Headers withOneCookie(HttpServerRequest request, Headers headers) {
        List<String> cookies = headers.all("Cookie");
        return request.version() == HttpVersion.HTTP_2 && cookies.size() > 1
                ? headers.with("cookie", cookies.stream().collect(Collectors.joining("; ")))
                : headers;
    }

    private static boolean isToken(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isTokenCharacter(text.charAt(i))) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /** Whether it is a number of bytes that a {@code long} can hold. */
    static boolean isLength(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty() && text.length() <= MOST_DIGITS;
    }

    private static boolean isTokenCharacter(int c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
    }

    private static boolean isFieldValue(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '\t' && (c < ' ' || c == 0x7f)) {
                return false;
            }
        }
        return true;
    }

    private static void require(boolean fine, String otherwise) {
        if (!fine) {
            throw new ProblemException(Problem.REQUEST_INVALID, otherwise);
        }
    }
}
