package dev.hapax.gateway.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.hapax.http.Headers;
import dev.hapax.http.Headers.Field;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An HTTP/1.1 message as it went over the wire: the first line, the headers, the body without its framing. */
@SuppressWarnings("ArrayRecordComponent")
record Message(String line, Headers headers, byte[] body, Headers trailers) {

    /** Reads a request; empty at the end of the connection. */
    static Optional<Message> readRequest(InputStream in) throws IOException {
        Optional<Message> head = readHead(in);
        return head.isPresent() ? Optional.of(head.get().withBody(in, false)) : head;
    }

    /** Reads a response, to the end of the connection if it does not say how long it is. */
    static Message readResponse(InputStream in) throws IOException {
        Message head = readHead(in).orElseThrow(() -> new EOFException("closed without a response"));
        int status = head.status();
        return status < 200 || status == 204 || status == 304 ? head : head.withBody(in, true);
    }

    /** Reads the head of a message; empty at the end of the connection. */
    static Optional<Message> readHead(InputStream in) throws IOException {
        String line = readLine(in);
        return line == null
                ? Optional.empty()
                : Optional.of(new Message(line, readFields(in), new byte[0], Headers.NONE));
    }

    int status() {
        return Integer.parseInt(line.split(" ", 3)[1]);
    }

    String method() {
        return line.split(" ", 3)[0];
    }

    String target() {
        return line.split(" ", 3)[1];
    }

    String header(String name) {
        return headers.first(name).orElse("");
    }

    String text() {
        return new String(body, ISO_8859_1);
    }

    Message withBody(InputStream in, boolean response) throws IOException {
        if (headers.first("Transfer-Encoding").isPresent()) {
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            for (byte[] chunk = readChunk(in); chunk.length > 0; chunk = readChunk(in)) {
                whole.write(chunk);
            }
            return new Message(line, headers, whole.toByteArray(), readFields(in));
        }
        Optional<String> length = headers.first("Content-Length");
        if (length.isEmpty()) {
            return response ? new Message(line, headers, in.readAllBytes(), Headers.NONE) : this;
        }
        byte[] body = in.readNBytes(Integer.parseInt(length.get()));
        if (body.length < Integer.parseInt(length.get())) {
            throw new EOFException("closed in the middle of a body");
        }
        return new Message(line, headers, body, Headers.NONE);
    }

    /** Empty at the end. */
    static byte[] readChunk(InputStream in) throws IOException {
        String size = readLine(in);
        if (size == null) {
            throw new EOFException("closed between two chunks");
        }
        byte[] chunk = in.readNBytes(Integer.parseInt(size.trim(), 16));
        if (chunk.length > 0) {
            readLine(in);
        }
        return chunk;
    }

    private static Headers readFields(InputStream in) throws IOException {
        List<Field> fields = new ArrayList<>();
        for (String line = readLine(in); line == null || !line.isEmpty(); line = readLine(in)) {
            if (line == null) {
                throw new EOFException("closed in the middle of a head");
            }
            int colon = line.indexOf(':');
            fields.add(new Field(
                    line.substring(0, colon), line.substring(colon + 1).trim()));
        }
        return new Headers(fields);
    }

    private static String readLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                return null;
            }
            line.append((char) c);
        }
        return line.toString().replaceFirst("\r$", "");
    }
}
