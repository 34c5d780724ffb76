package dev.hapax.gateway.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;

/** A client on a socket of its own that says exactly what a test wants. */
final class RawClient implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 30_000;

    private final Socket socket;
    private final InputStream in;

    RawClient(TestGateway gateway) throws IOException {
        this(new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), gateway.port()));
    }

    /** A client whose sending and the gateway's reading go hand in hand. */
    static RawClient withSmallBuffers(TestGateway gateway) throws IOException {
        Socket socket = new Socket();
        socket.setSendBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
        return new RawClient(socket);
    }

    RawClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    RawClient send(String text) throws IOException {
        out().write(text.getBytes(ISO_8859_1));
        out().flush();
        return this;
    }

    /** Sends a charge with this key. */
    RawClient charge(String key) throws IOException {
        return send(chargeText(key));
    }

    static String chargeText(String key) {
        return "POST " + TestGateway.CHARGES + " HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: \"" + key
                + "\"\r\nContent-Length: 2\r\n\r\n{}";
    }

    Message read() throws IOException {
        return Message.readResponse(in);
    }

    Message readHead() throws IOException {
        return Message.readHead(in).orElseThrow();
    }

    /** Whether the gateway closes now, without another byte. */
    boolean isClosed() throws IOException {
        try {
            return in.read() < 0;
        } catch (SocketException reset) {
            return true;
        }
    }

    InputStream in() {
        return in;
    }

    OutputStream out() throws IOException {
        return socket.getOutputStream();
    }

    /** Goes away as a process does that dies. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
