package dev.hapax.gateway.proxy;

import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.transport.Transport;
import java.util.concurrent.TimeUnit;

/** Vert.x as the gateway uses it: event loops only, no files. */
final class GatewayVertx {
    private GatewayVertx() {}

    /** With an event loop for each processor. */
    static Vertx at(Door door) {
        return builder(loops()).withTransport(door.transport()).build();
    }

    /** With one event loop. */
    static Vertx small() {
        return builder(1).withTransport(Transport.NIO).build();
    }

    static int loops() {
        return Runtime.getRuntime().availableProcessors();
    }

    private static VertxBuilder builder(int loops) {
        return Vertx.builder()
                .with(new VertxOptions()
                        .setEventLoopPoolSize(loops)
                        .setWorkerPoolSize(1)
                        .setInternalBlockingPoolSize(2)
                        .setBlockedThreadCheckInterval(5)
                        .setBlockedThreadCheckIntervalUnit(TimeUnit.SECONDS)
                        .setFileSystemOptions(new FileSystemOptions()
                                .setFileCachingEnabled(false)
                                .setClassPathResolvingEnabled(false)));
    }
}
