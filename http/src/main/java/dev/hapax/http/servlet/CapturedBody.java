package dev.hapax.http.servlet;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** What a servlet writes: kept up to a limit, then on its way to the client, and in the end thrown away. */
final class CapturedBody extends ServletOutputStream {
    private final int most;
    private final CapturedResponse response;
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private @Nullable OutputStream client;
    private volatile boolean closed;

    CapturedBody(int most, CapturedResponse response) {
        this.most = most;
        this.response = response;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        if (closed || length == 0) {
            return;
        }
        if (client == null && length > most - kept.size()) {
            response.overflow();
        }
        if (client != null) {
            client.write(bytes, from, length);
        } else if (!closed) {
            kept.write(bytes, from, length);
        }
    }

    @Override
    public void flush() throws IOException {
        response.flushBuffer();
    }

    void flushToClient() throws IOException {
        if (client != null && !closed) {
            client.flush();
        }
    }

    /** To the servlet this is the end of its response. */
    @Override
    public void close() throws IOException {
        if (!closed) {
            response.flushBuffer();
            closed = true;
        }
    }

    boolean isStreaming() {
        return client != null;
    }

    void streamTo(OutputStream out) {
        client = out;
        kept.reset();
    }

    /** From here on nothing is taken any more. */
    void end() {
        closed = true;
    }

    void clear() {
        kept.reset();
    }

    byte[] bytes() {
        return kept.toByteArray();
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void setWriteListener(WriteListener listener) {
        GuardedAsyncContext async = response.exchange().async();
        if (async == null) {
            throw new IllegalStateException("a write listener needs an asynchronous request");
        }
        async.callBack(listener::onWritePossible, listener::onError);
    }
}
