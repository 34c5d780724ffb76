package dev.hapax.testkit.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A socket on which anything can be said. */
final class RawConnection implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 20_000;
    private static final Pattern STATUS_LINE = Pattern.compile("(?:^|\n)HTTP/1\\.[01] ([0-9]{3})[ \r]");

    private final Socket socket = new Socket();

    RawConnection(URI base) throws IOException {
        socket.connect(new InetSocketAddress(base.getHost(), base.getPort()), PATIENCE_MILLIS);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
    }

    /** A server may refuse before it has read everything; then what it said still counts. */
    void send(byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        } catch (SocketException refused) {
            return;
        }
    }

    /** Says that nothing more will come. */
    void end() throws IOException {
        try {
            socket.shutdownOutput();
        } catch (SocketException closed) {
            return;
        }
    }

    /** Everything that comes until the server closes. */
    String readToTheEnd() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        InputStream in = socket.getInputStream();
        byte[] buffer = new byte[8192];
        try {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                all.write(buffer, 0, n);
            }
        } catch (SocketException reset) {
            // closed all the same
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** The statuses of the responses in what was read. */
    static List<Integer> statuses(String read) {
        List<Integer> statuses = new ArrayList<>();
        Matcher line = STATUS_LINE.matcher(read);
        while (line.find()) {
            statuses.add(Integer.valueOf(line.group(1)));
        }
        return statuses;
    }

    /** Hangs up with a reset, as a process does that dies. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
