package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches the connection of one client, and closes it when it has no request for too long. The whole head of a request
 * must be there in time: a client that dribbles it gains nothing. Belongs to the connection's event loop.
 */
final class ClientChannel extends ChannelInboundHandlerAdapter {
    private final Door door;
    private final Limits limits;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ScheduledFuture<?> check;
    private long deadline;
    private long checksAt;
    private int inFlight;
    private boolean takesNoMore;

    ClientChannel(Door door, Limits limits) {
        this.door = door;
        this.limits = limits;
    }

    static ClientChannel of(HttpConnection connection) {
        return Objects.requireNonNull(
                ((ConnectionBase) connection).channel().pipeline().get(ClientChannel.class));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        this.context = context;
        door.opened();
        waitForRequest(limits.headTimeout());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext removed) {
        this.context = null;
        door.closed();
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
        if (context != null) {
            checksAt = deadline;
            long wait = deadline - System.nanoTime();
            check = context.executor().schedule(this::check, Math.max(1, wait), TimeUnit.NANOSECONDS);
        }
    }

    private void check() {
        check = null;
        if (inFlight > 0 || context == null) {
            return;
        }
        if (deadline - System.nanoTime() > 0) {
            checkAtDeadline();
        } else {
            context.channel().close();
        }
    }
}
