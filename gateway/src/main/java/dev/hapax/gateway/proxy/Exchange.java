package dev.hapax.gateway.proxy;

import dev.hapax.http.HttpResponse;
import dev.hapax.http.Problem;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One request of a client, until both are done with each other. Belongs to the request's event loop, where the request
 * is paused when this begins.
 */
final class Exchange {
    private static final int SWITCHING_PROTOCOLS = 101;

    private final HttpServerRequest request;
    private final @Nullable RequestHead head;
    private final Traffic traffic;
    private final Context context;
    private final ClientChannel channel;
    private final Reply reply;
    private final long began = System.nanoTime();
    private Runnable whenGone = () -> {};
    private Runnable whenGivenUp = () -> {};
    private boolean gone;
    private boolean finished;

    /** @param head empty for a request that could not be read */
    Exchange(HttpServerRequest request, @Nullable RequestHead head, Vertx vertx, Traffic traffic) {
        this.request = request;
        this.head = head;
        this.traffic = traffic;
        this.context = vertx.getOrCreateContext();
        this.channel = Objects.requireNonNull(ClientChannel.of(request.connection()), "closed");
        this.reply = new Reply(request, head, channel, vertx, traffic);
        request.exceptionHandler(failure -> leave());
        request.response().exceptionHandler(failure -> leave());
        request.response().closeHandler(closed -> leave());
        channel.requestBegan();
        traffic.began(this);
    }

    HttpServerRequest request() {
        return request;
    }

    RequestHead head() {
        if (head == null) {
            throw new IllegalStateException("the request could not be read");
        }
        return head;
    }

    Reply reply() {
        return reply;
    }

    /** Runs things on the event loop of this exchange. */
    Executor executor() {
        return task -> context.runOnContext(now -> task.run());
    }

    /** Whether the client has gone away. */
    boolean isGone() {
        return gone;
    }

    /** What to do when the client goes away before it has its whole response. */
    void whenGone(Runnable then) {
        whenGone = then;
    }

    /** What to do when the gateway stops and can wait no longer. */
    void whenGivenUp(Runnable then) {
        whenGivenUp = then;
    }

    /** Whether the gateway stops and can wait no longer. */
    boolean isGivenUp() {
        return traffic.isGivenUp();
    }

    /** Waits no longer. Callable from anywhere. */
    void giveUp() {
        context.runOnContext(now -> {
            if (!finished) {
                whenGivenUp.run();
            }
        });
    }

    void upstreamFailed(UpstreamFailure failure) {
        traffic.metrics().upstreamFailed(failure);
    }

    /** Sends a response, and that is all. */
    void answer(HttpResponse response) {
        if (gone || reply.isBegun()) {
            finish();
        } else {
            reply.send(response).onComplete(sent -> finish());
        }
    }

    void answer(Problem problem, String detail) {
        answer(problem.response(detail));
    }

    /** Breaks off where a response can no longer be told from a whole one, or says what happened where it can. */
    void fail(Problem problem, String detail) {
        if (reply.isBegun()) {
            reply.cut();
            finish();
        } else {
            answer(problem, detail);
        }
    }

    /** Client and gateway are done with each other. */
    void finish() {
        if (!finished) {
            finished = true;
            channel.requestEnded();
            traffic.ended(this, reply.status(), System.nanoTime() - began);
        }
    }

    /** There will be no end that anybody could wait for; the connection is never idle from here on. */
    ClientChannel becomeTunnel() {
        finished = true;
        traffic.ended(this, SWITCHING_PROTOCOLS, System.nanoTime() - began);
        return channel;
    }

    private void leave() {
        if (!gone && !finished) {
            gone = true;
            whenGone.run();
        }
    }
}
