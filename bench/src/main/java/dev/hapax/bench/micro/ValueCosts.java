package dev.hapax.bench.micro;

import dev.hapax.codec.Codec;
import dev.hapax.codec.JacksonCodecs;
import dev.hapax.store.Fingerprint;
import dev.hapax.store.OperationId;
import dev.hapax.store.OperationKey;
import java.util.List;
import java.util.UUID;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Making and reading the values of an operation. Public because JMH's own code extends it. */
@State(Scope.Thread)
public class ValueCosts {
    private final String key = UUID.randomUUID().toString();
    private final byte[] request = Samples.bytes(300);
    private final String text = Samples.json(300);
    private final Receipt receipt = Receipt.sample();
    private final Codec<Receipt> json = new JacksonCodecs().codecFor(Receipt.class);

    /** A result such as a payment has. */
    public record Receipt(String id, String status, long amount, String currency, List<Line> lines) {
        /** One line of it. */
        public record Line(String article, int count, long amount) {}

        static Receipt sample() {
            return new Receipt(
                    "ch_3PqR5tUvWxYz0123",
                    "succeeded",
                    12_345,
                    "EUR",
                    List.of(
                            new Line("sku-4711", 2, 4_000),
                            new Line("sku-4712", 1, 4_345),
                            new Line("shipping", 1, 0)));
        }
    }

    @Benchmark
    public OperationId operationId() {
        return OperationId.of(new OperationKey("acct_42", "payments", key));
    }

    @Benchmark
    public Fingerprint fingerprint() {
        return Fingerprint.of(request);
    }

    @Benchmark
    public byte[] bytesCodec() throws Exception {
        return Codec.bytes().decode(Codec.bytes().encode(request));
    }

    @Benchmark
    public String textCodec() throws Exception {
        return Codec.text().decode(Codec.text().encode(text));
    }

    @Benchmark
    public Receipt jacksonCodec() throws Exception {
        return json.decode(json.encode(receipt));
    }
}
