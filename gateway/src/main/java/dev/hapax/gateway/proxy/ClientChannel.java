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
        checkIn(atMost.toNanos());
    }

    /** One check at a time is pending; it looks again where the deadline has moved meanwhile. */
    private void checkIn(long nanos) {
        if (check == null && context != null) {
            check = context.executor().schedule(this::check, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void check() {
        check = null;
        if (inFlight > 0 || context == null) {
            return;
        }
        long left = deadline - System.nanoTime();
        if (left > 0) {
            checkIn(left);
        } else {
            context.channel().close();
        }
    }
}
