package dev.hapax.gateway.proxy;

import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerRequest;

/** A body on its way in, which can be held back. */
interface Flow {
    void hold();

    void release();

    static Flow of(HttpServerRequest request) {
        return new Flow() {
            @Override
            public void hold() {
                if (!request.isEnded()) {
                    request.pause();
                }
            }

            @Override
            public void release() {
                if (!request.isEnded()) {
                    request.resume();
                }
            }
        };
    }

    static Flow of(HttpClientResponse response) {
        return new Flow() {
            @Override
            public void hold() {
                response.pause();
            }

            @Override
            public void release() {
                response.resume();
            }
        };
    }
}
