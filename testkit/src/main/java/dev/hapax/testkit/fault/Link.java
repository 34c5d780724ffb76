package dev.hapax.testkit.fault;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection through the proxy: two sockets and a thread for each direction.
 *
 * <p>A failure of either socket resets both, as a broken wire would, except while an answer is being lost: then the
 * server is given the time to finish.
 */
final class Link {

    private static final int CHUNK = 64 * 1024;

    private final Socket client;
    private final Socket server;
    private final Rules rules;
    private final Thread upstream;
    private final Thread downstream;
    private final AtomicInteger openDirections = new AtomicInteger(2);
    private final AtomicBoolean reset = new AtomicBoolean();
    private final AtomicBoolean reported = new AtomicBoolean();
    private volatile @Nullable LostAnswer lost;

    /** What a link obeys; shared by all links of a proxy. */
    record Rules(Valve upstream, Valve downstream, Trap trap, Duration patience) {}

    Link(String name, Socket client, Socket server, Rules rules) {
        this.client = client;
        this.server = server;
        this.rules = rules;
        upstream = daemon(name + "-up", this::pumpUpstream);
        downstream = daemon(name + "-down", this::pumpDownstream);
    }

    void start() {
        upstream.start();
        downstream.start();
    }

    boolean isClosed() {
        return client.isClosed() && server.isClosed();
    }

    /** Breaks both connections with a reset and frees whoever holds bytes of theirs. */
    void reset() {
        if (reset.compareAndSet(false, true)) {
            reset(client);
            reset(server);
            upstream.interrupt();
            downstream.interrupt();
        }
        reportLost();
    }

    static void reset(Socket socket) {
        try (socket) {
            socket.setSoLinger(true, 0);
        } catch (IOException alreadyGone) {
            // Closed is all we wanted.
        }
    }

    private void pumpUpstream() {
        try {
            byte[] chunk = new byte[CHUNK];
            OutputStream out = server.getOutputStream();
            for (int n = client.getInputStream().read(chunk);
                    n >= 0;
                    n = client.getInputStream().read(chunk)) {
                rules.upstream().pass();
                if (!forward(chunk, n, out)) {
                    return;
                }
            }
            rules.upstream().pass();
            server.shutdownOutput();
            directionEnded();
        } catch (IOException | InterruptedException broken) {
            clientBroke();
        } catch (RuntimeException triggerFailed) {
            reset();
            throw triggerFailed;
        }
    }

    private boolean forward(byte[] chunk, int length, OutputStream out) throws IOException {
        Optional<FiredFault.Kind> fault =
                rules.trap().spring(ByteBuffer.wrap(chunk, 0, length).slice().asReadOnlyBuffer());
        if (fault.isEmpty()) {
            out.write(chunk, 0, length);
        } else if (fault.get() == FiredFault.Kind.ANSWER_LOST) {
            forwardAndLoseAnswer(chunk, length, out);
        } else {
            reset();
            rules.trap().report(new FiredFault(FiredFault.Kind.REQUEST_DROPPED, 0));
            return false;
        }
        return true;
    }

    /**
     * Later chunks still go through, since a long request comes in several: the server must get all of it to answer.
     */
    private void forwardAndLoseAnswer(byte[] chunk, int length, OutputStream out) throws IOException {
        LostAnswer losing = new LostAnswer(server);
        // Before the write, so that no answer can overtake it.
        lost = losing;
        CompletableFuture.delayedExecutor(rules.patience().toNanos(), TimeUnit.NANOSECONDS)
                .execute(this::reset);
        if (reset.get()) {
            reportLost();
        }
        out.write(chunk, 0, length);
        losing.forwarded();
    }

    private void clientBroke() {
        LostAnswer losing = lost;
        if (losing == null) {
            reset();
        } else {
            losing.endRequest();
        }
    }

    private void pumpDownstream() {
        try {
            byte[] chunk = new byte[CHUNK];
            OutputStream out = client.getOutputStream();
            for (int n = server.getInputStream().read(chunk);
                    n >= 0;
                    n = server.getInputStream().read(chunk)) {
                LostAnswer losing = lost;
                if (losing == null) {
                    rules.downstream().pass();
                    out.write(chunk, 0, n);
                } else {
                    losing.swallow(n);
                }
            }
            serverHungUp();
        } catch (IOException | InterruptedException broken) {
            reset();
        }
    }

    private void serverHungUp() throws IOException, InterruptedException {
        if (lost != null) {
            reset();
            return;
        }
        rules.downstream().pass();
        client.shutdownOutput();
        directionEnded();
    }

    private void directionEnded() throws IOException {
        if (openDirections.decrementAndGet() == 0) {
            client.close();
            server.close();
        }
    }

    /** Once only, and after the sockets are closed, so that who awaits the fault finds the connection broken. */
    private void reportLost() {
        LostAnswer losing = lost;
        if (losing != null && reported.compareAndSet(false, true)) {
            rules.trap().report(new FiredFault(FiredFault.Kind.ANSWER_LOST, losing.swallowed()));
        }
    }

    private static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }
}
