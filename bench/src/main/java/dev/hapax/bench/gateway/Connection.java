package dev.hapax.bench.gateway;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A client with one connection that is kept, and one request at a time. */
final class Connection implements AutoCloseable {
    private static final String BODY = Samples.json(300);
    private static final String HEAD = """
            POST /v1/charges HTTP/1.1\r
            Host: 127.0.0.1:%d\r
            User-Agent: hapax-bench\r
            Accept: application/json\r
            Content-Type: application/json\r
            Content-Length: %d\r
            Idempotency-Key: "%s"\r
            \r
            """;
    private static final int CREATED = 201;

    private final InetSocketAddress address;
    private final Selector selector;
    private final ByteBuffer request;
    private final int keyAt;
    private final Answer answer = new Answer();
    private final ByteBuffer incoming = ByteBuffer.wrap(answer.bytes());
    private @Nullable SocketChannel channel;
    private boolean replayed;
    private long sentAt;

    Connection(InetSocketAddress address, Selector selector) {
        this.address = address;
        this.selector = selector;
        String placeholder = Keys.fresh().next();
        String text = HEAD.formatted(address.getPort(), BODY.length(), placeholder) + BODY;
        this.keyAt = text.indexOf(placeholder);
        this.request = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Opens it anew. */
    void open() throws IOException {
        close();
        SocketChannel opened = SocketChannel.open(address);
        opened.setOption(StandardSocketOptions.TCP_NODELAY, true);
        opened.configureBlocking(false);
        SelectionKey unused = opened.register(selector, SelectionKey.OP_READ, this);
        channel = opened;
    }

    void send(Keys keys) throws IOException {
        sentAt = System.nanoTime();
        replayed = keys.replayed();
        byte[] key = keys.next().getBytes(StandardCharsets.US_ASCII);
        request.clear();
        request.put(keyAt, key);
        answer.clear();
        while (request.hasRemaining()) {
            channel().write(request);
        }
    }

    long sentAt() {
        return sentAt;
    }

    /** @return whether the answer is complete, and it is the right one */
    boolean receive() throws IOException {
        incoming.limit(incoming.capacity()).position(answer.read());
        int count = channel().read(incoming);
        if (count < 0) {
            throw new IOException("the connection was closed before the answer had come");
        }
        if (!answer.add(count)) {
            return false;
        }
        answer.require(CREATED, replayed);
        return true;
    }

    private SocketChannel channel() {
        return Objects.requireNonNull(channel, "not open");
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }
}
