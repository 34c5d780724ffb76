package dev.hapax.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

class PayloadTest {
    /** A letter of Base64 carries six bits out of eight. */
    private static final double TEXT = 0.75;

    @Test
    void bytesDoNotCompress() {
        assertThat(compressed(Payload.bytes(20_000))).isGreaterThanOrEqualTo(20_000);
    }

    @Test
    void resultsOfPeersDoNotCompress() {
        byte[] result = Work.handle().getBytes(StandardCharsets.US_ASCII);

        assertThat(result).hasSize(300);
        assertThat(compressed(result)).isGreaterThanOrEqualTo((int) (TEXT * result.length));
    }

    private static int compressed(byte[] bytes) {
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        deflater.setInput(bytes);
        deflater.finish();
        int length = deflater.deflate(new byte[2 * bytes.length]);
        deflater.end();
        return length;
    }
}
