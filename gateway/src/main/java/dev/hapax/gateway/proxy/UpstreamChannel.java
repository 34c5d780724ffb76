package dev.hapax.gateway.proxy;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the bytes of an HTTP/1.1 connection to an upstream and Vert.x, which gets three things wrong for us.
 * Belongs to the connection's event loop.
 *
 * <ul>
 *   <li>A response that is paused fails when the upstream closes after its last byte, because Vert.x sees the close
 *       before what it still has to deliver. Here a response is held back where nothing has been read behind it.
 *   <li>An informational response other than 100 and 103 passes for the final one. Here it is dropped.
 *   <li>A connection is kept for as long as the upstream says in {@code Keep-Alive}: to the very moment when the
 *       upstream closes it. Here only our own, shorter time counts; a connection that would not last is closed.
 * </ul>
 */
final class UpstreamChannel extends ChannelInboundHandlerAdapter implements Flow {
    private static final String CODEC = "codec"; // as Vert.x calls it
    private static final String KEEP_ALIVE = "Keep-Alive";
    private static final Pattern TIMEOUT = Pattern.compile("(?i)timeout\\s*=\\s*\"?([0-9]{1,9})");
    private static final Duration MARGIN = Duration.ofSeconds(1);

    private final Duration idleTimeout;
    private final Queue<Object> heldBack = new ArrayDeque<>();
    private @Nullable ChannelHandlerContext context;
    private boolean held;
    private boolean dropping;

    private UpstreamChannel(Duration idleTimeout) {
        this.idleTimeout = idleTimeout;
    }

    /** Takes its place in a new connection, if that speaks HTTP/1.1. */
    static void watch(HttpConnection connection, Duration idleTimeout) {
        ChannelPipeline pipeline = ((ConnectionBase) connection).channel().pipeline();
        if (pipeline.get(CODEC) != null) {
            pipeline.addAfter(CODEC, "upstream", new UpstreamChannel(idleTimeout));
        }
    }

    /** How the body of a response is held back: here, or by HTTP/2 itself. */
    static Flow flowOf(HttpClientResponse response) {
        ConnectionBase connection = (ConnectionBase) response.request().connection();
        UpstreamChannel channel = connection.channel().pipeline().get(UpstreamChannel.class);
        return channel != null ? channel : Flow.of(response);
    }

    /**
     * Breaks a request off that was sent at least in part. The connection is closed at once; Vert.x would send the rest
     * of what it has first: to an upstream that takes nothing, for ever.
     */
    static void abort(HttpClientRequest request) {
        request.reset();
        UpstreamChannel channel =
                ((ConnectionBase) request.connection()).channel().pipeline().get(UpstreamChannel.class);
        if (channel != null) {
            channel.context().close();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        this.context = context;
    }

    /** From now on nothing comes through, and nothing more is read. */
    @Override
    public void hold() {
        held = true;
        context().channel().config().setAutoRead(false);
    }

    /** Lets through what was held back, and reads on. */
    @Override
    public void release() {
        if (!held) {
            return;
        }
        held = false;
        boolean any = !heldBack.isEmpty();
        while (!held && !heldBack.isEmpty()) {
            context().fireChannelRead(heldBack.remove());
        }
        if (any) {
            context().fireChannelReadComplete();
        }
        if (!held) {
            context().channel().config().setAutoRead(true);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpResponse response) {
            dropping = isSkipped(response.status().code());
            limitKeepAlive(response);
        }
        if (dropping) {
            dropping = !(message instanceof LastHttpContent);
            ReferenceCountUtil.release(message);
        } else if (held) {
            heldBack.add(message);
        } else {
            context.fireChannelRead(message);
        }
    }

    private static boolean isSkipped(int status) {
        return status >= 102 && status < 200 && status != 103;
    }

    private void limitKeepAlive(HttpResponse response) {
        String keepAlive = response.headers().get(KEEP_ALIVE);
        if (keepAlive == null) {
            return;
        }
        response.headers().remove(KEEP_ALIVE);
        Matcher timeout = TIMEOUT.matcher(keepAlive);
        if (timeout.find()
                && Duration.ofSeconds(Long.parseLong(timeout.group(1))).compareTo(idleTimeout.plus(MARGIN)) <= 0) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        heldBack.forEach(ReferenceCountUtil::release);
        heldBack.clear();
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }
}
