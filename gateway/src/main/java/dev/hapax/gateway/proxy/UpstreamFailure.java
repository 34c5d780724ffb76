package dev.hapax.gateway.proxy;

import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.http.ConnectionPoolTooBusyException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** How an upstream failed, for those who count. */
enum UpstreamFailure {
    /** Nobody listens there, or nobody is there. */
    REFUSED,
    /** Its name is not known. */
    UNKNOWN_HOST,
    /** It is not who it should be, or does not speak TLS. */
    TLS,
    /** Too many requests wait for a connection. */
    BUSY,
    /** No connection could be had in time. */
    NO_CONNECTION,
    /** The request was sent, and the connection broke before the head of a response was there. */
    HUNG_UP,
    /** The request was sent, and the response, or what was still missing of it, did not come in time. */
    TIMEOUT,
    /** The response broke off. */
    BROKE_OFF;

    /** What kept a request from being sent. */
    static UpstreamFailure unsent(Throwable cause) {
        if (cause instanceof UnknownHostException) {
            return UNKNOWN_HOST;
        } else if (cause instanceof SSLException) {
            return TLS;
        } else if (cause instanceof ConnectionPoolTooBusyException) {
            return BUSY;
        } else if (cause instanceof TimeoutException || cause instanceof ConnectTimeoutException) {
            return NO_CONNECTION;
        }
        return REFUSED;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
