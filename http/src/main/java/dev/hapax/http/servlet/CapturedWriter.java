package dev.hapax.http.servlet;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.Charset;

/** Characters on their way into the body. To flush them is one thing, to commit the response another. */
final class CapturedWriter extends Writer {
    private final CapturedBody body;
    private final OutputStreamWriter encoder;

    CapturedWriter(CapturedBody body, Charset charset) {
        this.body = body;
        this.encoder = new OutputStreamWriter(new Unflushed(body), charset);
    }

    @Override
    public void write(char[] chars, int from, int length) throws IOException {
        encoder.write(chars, from, length);
    }

    /** Everything that was written is in the body; nothing is committed. */
    void drain() throws IOException {
        encoder.flush();
    }

    @Override
    public void flush() throws IOException {
        drain();
        body.flush();
    }

    @Override
    public void close() throws IOException {
        drain();
        body.close();
    }

    private static final class Unflushed extends OutputStream {
        private final CapturedBody body;

        private Unflushed(CapturedBody body) {
            this.body = body;
        }

        @Override
        public void write(int b) throws IOException {
            body.write(b);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            body.write(bytes, from, length);
        }
    }
}
