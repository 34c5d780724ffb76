package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches the connection of one client, and closes it when it has no request for too long. The whole head of a request
 * must be there in time: a client that dribbles it gains nothing. Belongs to the connection's event loop.
 */
final class ClientChannel extends ChannelInboundHandlerAdapter {
    private static final Duration LAST_WORDS = Duration.ofSeconds(5);

    private final Door door;
    private final Limits limits;
    private volatile @Nullable ChannelHandlerContext context;
    private @Nullable ScheduledFuture<?> check;
    private long deadline;
    private long checksAt;
    private int inFlight;
    private boolean takesNoMore;

    ClientChannel(Door door, Limits limits) {
        this.door = door;
        this.limits = limits;
    }

    /** Empty when the connection is closed. */
    static @Nullable ClientChannel of(HttpConnection connection) {
        return ((ConnectionBase) connection).channel().pipeline().get(ClientChannel.class);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        this.context = context;
        door.opened(this);
        waitForRequest(limits.headTimeout());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext removed) {
        this.context = null;
        door.closed(this);
        if (check != null) {
            check.cancel(false);
        }
    }

    void requestBegan() {
        inFlight++;
    }

    void requestEnded() {
        inFlight--;
        if (inFlight == 0) {
            waitForRequest(limits.idleTimeout());
        }
    }

    /** The client was told that this is its last response here. */
    void takeNoMore() {
        takesNoMore = true;
    }

    /** Whether a request that comes now was sent too late. */
    boolean takesNoMore() {
        return takesNoMore;
    }

    /**
     * Closes at once, whatever the client still has to get. Vert.x sends that first: to a client that takes nothing,
     * for ever. Callable from anywhere.
     */
    void cut() {
        ChannelHandlerContext open = context;
        if (open != null) {
            open.close();
        }
    }

    private void waitForRequest(Duration atMost) {
        deadline = System.nanoTime() + atMost.toNanos();
        if (check == null || checksAt - deadline > 0) {
            checkAtDeadline();
        }
    }

    /** A check that comes too early looks again, so that a busy connection does not set one for every request. */
    private void checkAtDeadline() {
        if (check != null) {
            check.cancel(false);
        }
        ChannelHandlerContext open = context;
        if (open != null) {
            checksAt = deadline;
            long wait = Math.max(1, deadline - System.nanoTime());
            check = open.executor().schedule(() -> check(open), wait, TimeUnit.NANOSECONDS);
        }
    }

    private void check(ChannelHandlerContext open) {
        check = null;
        if (inFlight > 0) {
            return;
        }
        if (deadline - System.nanoTime() > 0) {
            checkAtDeadline();
        } else {
            open.channel().close();
            open.executor().schedule(this::cut, LAST_WORDS.toNanos(), TimeUnit.NANOSECONDS);
        }
    }
}
