package dev.hapax.testkit.fault;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A TCP proxy on a random port of 127.0.0.1 that passes bytes between a client and a server, and breaks the traffic
 * when told to.
 *
 * <p>Switches act on every connection until they are turned back: {@link #delay}, {@link #stall}, {@link #refuse}.
 * {@link #cut} acts once, on the connections of the moment. An <em>armed</em> fault waits for one write on its way to
 * the server and hits the connection that carries it:
 *
 * <ul>
 *   <li>{@link #loseNextAnswer}: the write is forwarded, the server's answer is swallowed, the connection is reset. The
 *       client cannot know whether its request was executed; it was. The reset comes when the server has hung up, hence
 *       after it has processed all it was sent, or when the proxy's patience has ended.
 *   <li>{@link #dropNextRequest}: the connection is reset and the write is never forwarded.
 * </ul>
 *
 * <p>A write is what one read from the client's socket yields, at most 64 KiB. A JDBC driver that flushes a request and
 * waits for its answer makes one write per round trip; a request beyond its buffer (8 KiB in pgjdbc) makes several,
 * which only adds crash points. Writes are counted over all connections, and those of a start-up handshake count too:
 * arm the fault after the connection is open unless the handshake is meant. Do not look for the text of a statement in
 * a write: pgjdbc sends {@code COMMIT} as a prepared statement's name after a few uses. To visit every crash point of
 * some work, count instead:
 *
 * <pre>{@code
 * for (int n = 0; ; n++) {
 *     proxy.loseAnswerAfter(n);
 *     work.run();
 *     if (proxy.disarm()) {
 *         break; // the work made no more than n writes
 *     }
 * }
 * }</pre>
 *
 * <p>Thread-safe. If the server cannot be reached the client's connection is reset, and the proxy lives on.
 */
public final class FaultProxy implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;
    private static final byte[] LOCALHOST = {127, 0, 0, 1};

    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Valve upstream = new Valve();
    private final Valve downstream = new Valve();
    private final Trap trap = new Trap();
    private final Link.Rules rules;
    private final List<Link> links = new ArrayList<>();
    private boolean refusing;
    private int accepted;

    private FaultProxy(InetSocketAddress target, Duration patience) throws IOException {
        this.target = target;
        this.rules = new Link.Rules(upstream, downstream, trap, patience);
        this.listener = new ServerSocket(0, 50, InetAddress.getByAddress(LOCALHOST));
    }

    /**
     * Starts a proxy in front of a server.
     *
     * @throws IOException if no port can be had
     */
    public static FaultProxy to(String host, int port) throws IOException {
        return to(host, port, PATIENCE);
    }

    /**
     * Starts a proxy that waits no longer than {@code patience} for the server's part in losing an answer.
     *
     * @throws IOException if no port can be had
     */
    public static FaultProxy to(String host, int port, Duration patience) throws IOException {
        FaultProxy proxy = new FaultProxy(new InetSocketAddress(host, port), patience);
        proxy.start();
        return proxy;
    }

    /** The address to hand to the client. */
    public String host() {
        return listener.getInetAddress().getHostAddress();
    }

    /** The port to hand to the client. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Delays every chunk in both directions; zero turns it off. */
    public void delay(Duration eachWay) {
        delay(eachWay, eachWay);
    }

    /** Delays every chunk to the server and every chunk from it; a chunk already delayed keeps its delay. */
    public void delay(Duration toServer, Duration toClient) {
        upstream.delay(toServer);
        downstream.delay(toClient);
    }

    /** Holds all bytes, and the news of a closed end, until {@link #resume}; connections stay up and can be opened. */
    public void stall() {
        upstream.stall();
        downstream.stall();
    }

    /** Lets held bytes go on. */
    public void resume() {
        upstream.resume();
        downstream.resume();
    }

    /** Resets all connections of the moment; new ones work. */
    public void cut() {
        synchronized (links) {
            links.forEach(Link::reset);
            links.clear();
        }
    }

    /** Resets all connections, and every new one at once, until {@link #accept}. */
    public void refuse() {
        synchronized (links) {
            refusing = true;
            cut();
        }
    }

    /** Takes new connections again. */
    public void accept() {
        synchronized (links) {
            refusing = false;
        }
    }

    /** Arms: the answer to the next write is lost. */
    public void loseNextAnswer() {
        loseAnswerAfter(0);
    }

    /** Arms: the answer to the next write that the trigger accepts is lost. */
    public void loseNextAnswer(Predicate<ByteBuffer> trigger) {
        loseAnswerAfter(0, trigger);
    }

    /** Arms: this many writes pass, the answer to the one after them is lost. */
    public void loseAnswerAfter(int writes) {
        loseAnswerAfter(writes, any -> true);
    }

    /**
     * Arms: of the writes that the trigger accepts this many pass, the answer to the one after them is lost.
     *
     * @throws IllegalStateException if a fault is still armed
     */
    public void loseAnswerAfter(int writes, Predicate<ByteBuffer> trigger) {
        trap.arm(FiredFault.Kind.ANSWER_LOST, writes, trigger);
    }

    /** Arms: the next write never reaches the server. */
    public void dropNextRequest() {
        dropRequestAfter(0);
    }

    /** Arms: this many writes pass, the one after them never reaches the server. */
    public void dropRequestAfter(int writes) {
        dropRequestAfter(writes, any -> true);
    }

    /**
     * Arms: of the writes that the trigger accepts this many pass, the one after them never reaches the server.
     *
     * @throws IllegalStateException if a fault is still armed
     */
    public void dropRequestAfter(int writes, Predicate<ByteBuffer> trigger) {
        trap.arm(FiredFault.Kind.REQUEST_DROPPED, writes, trigger);
    }

    /** Takes an armed fault back; true if it had still been waiting for its write. */
    public boolean disarm() {
        return trap.disarm();
    }

    /** How many armed faults have run their course. */
    public int faultsFired() {
        return trap.fired().size();
    }

    /** The armed faults that have run their course, oldest first. */
    public List<FiredFault> fired() {
        return trap.fired();
    }

    /**
     * Waits until the armed fault has run its course, the cut included; false if it has not within the timeout. True at
     * once if none is armed.
     */
    public boolean awaitFault(Duration timeout) throws InterruptedException {
        return trap.awaitIdle(timeout);
    }

    /** Stops listening and resets all connections. */
    @Override
    public void close() throws IOException {
        // In this order: whoever slips in before the port is gone is refused too.
        refuse();
        listener.close();
    }

    private void start() {
        Thread acceptor = new Thread(this::acceptAll, "fault-proxy-" + port());
        acceptor.setDaemon(true);
        acceptor.start();
    }

    private void acceptAll() {
        while (!listener.isClosed()) {
            try {
                connect(listener.accept());
            } catch (IOException closedOrClientGone) {
                // A closed listener ends the loop; a client that left before it was accepted concerns nobody.
            }
        }
    }

    private void connect(Socket client) {
        if (isRefusing()) {
            Link.reset(client);
            return;
        }
        Socket server = new Socket();
        try {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(target, CONNECT_TIMEOUT_MILLIS);
            admit(client, server);
        } catch (IOException unreachable) {
            Link.reset(client);
            Link.reset(server);
        }
    }

    private boolean isRefusing() {
        synchronized (links) {
            return refusing;
        }
    }

    private void admit(Socket client, Socket server) {
        synchronized (links) {
            links.removeIf(Link::isClosed);
            Link link = new Link("fault-proxy-" + port() + "-" + ++accepted, client, server, rules);
            links.add(link);
            // Asked again: the switch may have been thrown while we connected.
            if (refusing) {
                cut();
            } else {
                link.start();
            }
        }
    }
}
