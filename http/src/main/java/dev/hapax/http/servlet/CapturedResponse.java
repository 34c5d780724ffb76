package dev.hapax.http.servlet;

import dev.hapax.http.HttpResponse;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.UnsupportedEncodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.UnsupportedCharsetException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A response that stays here until it is stored. To the servlet it behaves like one that is sent: what is committed
 * cannot be changed any more, although the client has seen nothing yet.
 *
 * <p>It wraps nothing, because after a forward Tomcat looks through wrappers for its own response and shuts that, while
 * this one is still to be sent. Other containers insist on finding theirs: they get a {@link LookThrough}.
 */
final class CapturedResponse implements HttpServletResponse {
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
            .withZone(ZoneOffset.UTC);

    private final HttpServletResponse response;
    private final Exchange exchange;
    private final int most;
    private final ResponseHead head;
    private CapturedBody body;
    private boolean committed;
    private boolean streamUsed;
    private @Nullable CapturedWriter encoder;
    private @Nullable PrintWriter writer;
    private ErrorPage.@Nullable Failure failure;
    private Locale locale = Locale.getDefault();

    /** @param most how many bytes of a body are kept */
    CapturedResponse(HttpServletResponse response, int most, Exchange exchange) {
        this.response = response;
        this.exchange = exchange;
        this.most = most;
        this.head = new ResponseHead(response.getCharacterEncoding());
        this.body = new CapturedBody(most, this);
    }

    Exchange exchange() {
        return exchange;
    }

    ResponseHead head() {
        return head;
    }

    boolean hasFailed() {
        return failure != null;
    }

    /** The response, now that the servlet is done. */
    HttpResponse finish(ErrorPage.Rendering errors) throws IOException {
        drain();
        if (failure != null) {
            errors.render(failure);
            drain();
        }
        committed = true;
        body.end();
        return made(null);
    }

    private HttpResponse made(@Nullable Object rest) {
        byte[] bytes = Messages.hasBody(head.status()) ? body.bytes() : new byte[0];
        return new HttpResponse(head.status(), head.headers(), bytes, rest);
    }

    /** More was written than is kept. */
    void overflow() throws IOException {
        committed = true;
        try {
            if (Messages.hasBody(head.status())) {
                exchange.overflow(made(this));
            }
        } finally {
            if (!body.isStreaming()) {
                body.end(); // nobody reads it, so nobody holds it
            }
        }
    }

    void streamTo(OutputStream client) {
        body.streamTo(client);
    }

    /** The end of a response that went straight to the client. */
    void endStream() throws IOException {
        drain();
        body.flushToClient();
        body.end();
    }

    /** Nothing that the servlet still does has an effect. */
    void discard() {
        committed = true;
        body.end();
    }

    private void drain() throws IOException {
        if (encoder != null) {
            encoder.drain();
        }
    }

    /** The servlet has thrown. */
    void failed(Throwable thrown) {
        failure = ErrorPage.failure(thrown);
        discard();
    }

    /** Makes room for a page that tells of a failure: other headers stay, as they do in a container. */
    void startOver(int status) {
        failure = null;
        committed = false;
        streamUsed = false;
        encoder = null;
        writer = null;
        body = new CapturedBody(most, this);
        head.contentType().clear();
        head.set("Content-Encoding", null);
        head.set("Content-Language", null);
        head.setLength(-1);
        head.setStatus(status);
    }

    @Override
    public void sendError(int status, @Nullable String message) {
        requireUncommitted();
        failure = new ErrorPage.Failure(status, message, null);
        head.setStatus(status);
        discard();
    }

    @Override
    public void sendError(int status) {
        sendError(status, null);
    }

    @Override
    public void sendRedirect(String location) {
        sendRedirect(location, SC_FOUND, true);
    }

    @Override
    public void sendRedirect(String location, int status) {
        sendRedirect(location, status, true);
    }

    @Override
    public void sendRedirect(String location, boolean clearBuffer) {
        sendRedirect(location, SC_FOUND, clearBuffer);
    }

    @Override
    public void sendRedirect(String location, int status, boolean clearBuffer) {
        requireUncommitted();
        if (clearBuffer) {
            resetBuffer();
        }
        head.setStatus(status);
        head.set("Location", exchange.absolutePath(location));
        discard();
    }

    @Override
    public ServletOutputStream getOutputStream() {
        if (writer != null) {
            throw new IllegalStateException("getWriter was called before");
        }
        streamUsed = true;
        return body;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
        if (streamUsed) {
            throw new IllegalStateException("getOutputStream was called before");
        }
        if (writer == null) {
            encoder = new CapturedWriter(body, charset());
            writer = new PrintWriter(encoder);
            head.contentType().fixCharset();
        }
        return writer;
    }

    private Charset charset() throws IOException {
        String name = head.contentType().charset();
        try {
            return Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException unknown) {
            UnsupportedEncodingException refused = new UnsupportedEncodingException(name);
            refused.initCause(unknown);
            throw refused;
        }
    }

    /** Commits, but sends nothing: a stream of events excepted, which nobody could wait for. */
    @Override
    public void flushBuffer() throws IOException {
        drain();
        committed = true;
        if (!body.isStreaming() && ContentType.isEventStream(getContentType()) && failure == null) {
            overflow();
        }
        body.flushToClient();
    }

    @Override
    public boolean isCommitted() {
        return committed;
    }

    @Override
    public void resetBuffer() {
        requireUncommitted();
        try {
            drain();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        body.clear();
    }

    @Override
    public void reset() {
        resetBuffer();
        head.clear();
        streamUsed = false;
        encoder = null;
        writer = null;
    }

    private void requireUncommitted() {
        if (committed) {
            throw new IllegalStateException("the response is committed");
        }
    }

    @Override
    public String encodeURL(String url) {
        return response.encodeURL(url);
    }

    @Override
    public String encodeRedirectURL(String url) {
        return response.encodeRedirectURL(url);
    }

    /** What is kept has no other size than the policy's. */
    @Override
    public void setBufferSize(int size) {}

    @Override
    public int getBufferSize() {
        return most;
    }

    @Override
    public void setStatus(int status) {
        change(() -> head.setStatus(status));
    }

    @Override
    public int getStatus() {
        return head.status();
    }

    /** Cookies are for the first caller, and never stored. */
    @Override
    public void addCookie(Cookie cookie) {
        change(() -> head.cookies().add(cookie));
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        change(() -> head.set(name, value));
    }

    @Override
    public void addHeader(String name, @Nullable String value) {
        change(() -> head.add(name, value));
    }

    @Override
    public void setDateHeader(String name, long date) {
        setHeader(name, HTTP_DATE.format(Instant.ofEpochMilli(date)));
    }

    @Override
    public void addDateHeader(String name, long date) {
        addHeader(name, HTTP_DATE.format(Instant.ofEpochMilli(date)));
    }

    @Override
    public void setIntHeader(String name, int value) {
        setHeader(name, Integer.toString(value));
    }

    @Override
    public void addIntHeader(String name, int value) {
        addHeader(name, Integer.toString(value));
    }

    @Override
    public boolean containsHeader(String name) {
        return !head.all(name).isEmpty();
    }

    @Override
    public @Nullable String getHeader(String name) {
        return head.all(name).stream().findFirst().orElse(null);
    }

    @Override
    public Collection<String> getHeaders(String name) {
        return head.all(name);
    }

    @Override
    public Collection<String> getHeaderNames() {
        return head.names();
    }

    @Override
    public void setContentType(@Nullable String type) {
        change(() -> head.contentType().set(type));
    }

    @Override
    public @Nullable String getContentType() {
        return head.contentType().value();
    }

    @Override
    public void setCharacterEncoding(@Nullable String charset) {
        change(() -> head.contentType().setCharset(charset));
    }

    @Override
    public void setCharacterEncoding(@Nullable Charset charset) {
        setCharacterEncoding(charset == null ? null : charset.name());
    }

    @Override
    public String getCharacterEncoding() {
        return head.contentType().charset();
    }

    @Override
    public void setContentLength(int length) {
        setContentLengthLong(length);
    }

    @Override
    public void setContentLengthLong(long length) {
        change(() -> head.setLength(length));
    }

    @Override
    public void setLocale(Locale locale) {
        change(() -> {
            this.locale = locale;
            head.set("Content-Language", locale.toLanguageTag());
        });
    }

    @Override
    public Locale getLocale() {
        return locale;
    }

    /** There is no place for trailers in what is stored. */
    @Override
    public void setTrailerFields(Supplier<Map<String, String>> supplier) {}

    @Override
    public @Nullable Supplier<Map<String, String>> getTrailerFields() {
        return null;
    }

    /** What is committed stays as it is. */
    private void change(Runnable change) {
        if (!committed) {
            change.run();
        }
    }
}
