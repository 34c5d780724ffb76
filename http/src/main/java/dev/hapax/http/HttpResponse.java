package dev.hapax.http;

import dev.hapax.store.Result;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A response, as the work made it or as it is to be sent.
 *
 * @param headers without those that frame the message: no {@code Content-Length}, no {@code Transfer-Encoding}
 * @param body its first bytes, or all of them; not copied
 * @param rest what follows, in a form that only the adapter knows and sends itself; empty when the body is whole. A
 *     response with a rest was too large to keep: it is recorded without its bytes
 */
@SuppressWarnings("ArrayRecordComponent")
public record HttpResponse(
        int status, Headers headers, byte[] body, @Nullable Object rest) {
    public HttpResponse(int status, Headers headers, byte[] body) {
        this(status, headers, body, null);
    }

    /** As the end of an operation that somebody decides by hand: what retries get from then on. */
    public Result asResult() {
        return Result.completed(ResponseCodec.write(this, Set.of()));
    }
}
