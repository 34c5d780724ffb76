package dev.hapax.gateway.proxy;

import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpRequest;
import dev.hapax.http.HttpResponse;
import dev.hapax.http.Match;
import dev.hapax.http.Problem;
import dev.hapax.http.ProblemException;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request on a protected route: read whole, then run once or answered from the record. A client that goes away while
 * it runs changes nothing. Belongs to the exchange's event loop.
 */
final class ProtectedExchange {
    private static final Logger log = LoggerFactory.getLogger(ProtectedExchange.class);

    private final Exchange exchange;
    private final HttpIdempotency idempotency;
    private final Match match;
    private final UpstreamCall call;
    private final Vertx vertx;
    private final Traffic traffic;
    private final BodyReader reader;
    private boolean answered;

    ProtectedExchange(
            Exchange exchange,
            HttpIdempotency idempotency,
            Match match,
            UpstreamCall call,
            Vertx vertx,
            Traffic traffic) {
        this.exchange = exchange;
        this.idempotency = idempotency;
        this.match = match;
        this.call = call;
        this.vertx = vertx;
        this.traffic = traffic;
        this.reader = new BodyReader(exchange.request(), traffic, vertx);
    }

    void start() {
        if (exchange.head().length() > traffic.limits().maxBody()) {
            exchange.answer(BodyReader.tooLarge(traffic.limits()).response());
            return;
        }
        exchange.whenGone(() -> {
            reader.stop();
            exchange.finish();
        });
        exchange.whenGivenUp(() -> {
            reader.stop();
            exchange.answer(Problem.SHUTTING_DOWN, "it did not arrive before");
        });
        if (exchange.head().expectsContinue()) {
            exchange.reply().sendContinue();
        }
        reader.read().onComplete(read -> {
            if (read.succeeded()) {
                run(read.result());
            } else if (read.cause() instanceof ProblemException refused) {
                exchange.answer(refused.response());
            }
        });
    }

    private void run(byte[] body) {
        exchange.whenGone(() -> {});
        exchange.whenGivenUp(this::giveUp);
        RequestHead head = exchange.head();
        HttpRequest request = new HttpRequest(
                head.method().name(),
                head.path(),
                head.query(),
                head.headers().with("Host", head.host()),
                body,
                ClientCertificate.subjectOf(exchange.request()));
        idempotency
                .run(match, request, operation -> call.begin(operation, body), exchange.executor())
                .whenCompleteAsync(this::answer, exchange.executor());
    }

    /** What has not begun by now never will; what has is told by its call. */
    private void giveUp() {
        call.giveUp("the gateway stops");
        if (!call.isBegun() && !exchange.isGone()) {
            answered = true;
            exchange.reply().send(Problem.SHUTTING_DOWN.response("it could not be begun before"));
        }
    }

    private void answer(@Nullable HttpResponse response, @Nullable Throwable error) {
        reader.stop();
        boolean wanted = !exchange.isGone() && !answered;
        RestOfResponse rest = call.rest();
        if (rest != null && wanted && response != null && response.rest() == rest) {
            rest.stream(exchange, response, vertx, traffic);
            return;
        }
        if (rest != null) {
            rest.abandon();
        }
        if (!wanted) {
            exchange.finish();
        } else if (response != null) {
            exchange.answer(response);
        } else {
            log.error("A protected request failed in a way that has no name", error);
            exchange.answer(Problem.INTERNAL, "it failed in a way that has no name");
        }
    }
}
