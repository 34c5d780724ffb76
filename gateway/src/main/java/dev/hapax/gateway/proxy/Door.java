package dev.hapax.gateway.proxy;

import dev.hapax.gateway.proxy.GatewaySettings.Limits;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.impl.transports.TransportInternal;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.transport.Transport;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where clients come in: counts connections, turns away those that are too many, and has every other one watched by a
 * {@link ClientChannel} from its first moment. Thread-safe.
 *
 * <p>Vert.x tells of a connection only once it knows which HTTP is spoken there, which may be after the first request:
 * too late for clients that connect and say nothing, or say it very slowly. So this sits in the transport.
 */
final class Door {
    private final Limits limits;
    private final Set<ClientChannel> open = ConcurrentHashMap.newKeySet();

    Door(Limits limits) {
        this.limits = limits;
    }

    /** How many clients are connected. */
    int open() {
        return open.size();
    }

    void opened(ClientChannel client) {
        open.add(client);
    }

    void closed(ClientChannel client) {
        open.remove(client);
    }

    /** Closes every connection at once. */
    void cutAll() {
        open.forEach(ClientChannel::cut);
    }

    /** TCP with this door in front of every server. */
    Transport transport() {
        return new TransportInternal("nio", true, null, new NioTransport() {
            @Override
            public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
                super.configure(options, domainSocket, bootstrap);
                bootstrap.handler(new Doorkeeper());
            }
        });
    }

    private final class Doorkeeper extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            Channel client = (Channel) message;
            if (open.size() >= limits.maxConnections()) {
                client.unsafe().closeForcibly();
                return;
            }
            client.pipeline().addLast(new ClientChannel(Door.this, limits));
            context.fireChannelRead(message);
        }
    }
}
