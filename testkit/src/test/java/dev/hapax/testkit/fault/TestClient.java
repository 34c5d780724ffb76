package dev.hapax.testkit.fault;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A client that writes a line and waits for one. */
final class TestClient implements AutoCloseable {

    private final Socket socket;
    private final BufferedReader in;

    TestClient(FaultProxy proxy) throws IOException {
        socket = new Socket(proxy.host(), proxy.port());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(20_000);
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    }

    String ask(String line) throws IOException {
        send(line);
        return read();
    }

    void send(String line) throws IOException {
        socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    String read() throws IOException {
        String answer = in.readLine();
        if (answer == null) {
            throw new EOFException("hung up");
        }
        return answer;
    }

    void endInput() throws IOException {
        socket.shutdownOutput();
    }

    boolean hasAnswer() throws IOException {
        return in.ready();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
