package dev.hapax.http.servlet;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import java.io.ByteArrayInputStream;

/** A body that is there already. */
final class BufferedInput extends ServletInputStream {
    private final ByteArrayInputStream bytes;
    private final Exchange exchange;

    BufferedInput(byte[] bytes, Exchange exchange) {
        this.bytes = new ByteArrayInputStream(bytes);
        this.exchange = exchange;
    }

    @Override
    public int read() {
        return bytes.read();
    }

    @Override
    public int read(byte[] buffer, int from, int length) {
        return bytes.read(buffer, from, length);
    }

    @Override
    public int available() {
        return bytes.available();
    }

    @Override
    public boolean isFinished() {
        return bytes.available() == 0;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
        GuardedAsyncContext async = exchange.async();
        if (async == null) {
            throw new IllegalStateException("a read listener needs an asynchronous request");
        }
        async.callBack(
                () -> {
                    if (!isFinished()) {
                        listener.onDataAvailable();
                    }
                    if (isFinished()) {
                        listener.onAllDataRead();
                    }
                },
                listener::onError);
    }
}
