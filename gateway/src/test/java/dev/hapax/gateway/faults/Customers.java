package dev.hapax.gateway.faults;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/** People who want something charged once and do not give up until they know. */
final class Customers implements AutoCloseable {
    private static final int AT_ONCE = 32;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final IntFunction<URI> gateways;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();
    private final ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    private final List<Future<?>> asking = new ArrayList<>();

    final AtomicInteger done = new AtomicInteger();
    final AtomicInteger disconnected = new AtomicInteger();
    final Map<String, String> receipts = new ConcurrentHashMap<>();
    final Set<String> unrecorded = ConcurrentHashMap.newKeySet();
    final Set<String> inDoubt = ConcurrentHashMap.newKeySet();

    /** Every kind of answer that somebody got, such as {@code 409 in-progress}. */
    final Set<String> kinds = new ConcurrentSkipListSet<>();

    /** @param gateways where to go at the n-th try */
    Customers(IntFunction<URI> gateways) {
        this.gateways = gateways;
    }

    void charge(int number) {
        for (int i = 0; i < number; i++) {
            String key = "charge-" + i;
            asking.add(threads.submit(() -> {
                askUntilKnown(key);
                done.incrementAndGet();
                return key;
            }));
        }
    }

    void awaitAll() throws Exception {
        for (Future<?> customer : asking) {
            customer.get();
        }
    }

    /** Asks once more for what is known already. */
    HttpResponse<String> ask(String key) throws IOException, InterruptedException {
        return send(key, 0);
    }

    private void askUntilKnown(String key) throws InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        for (int attempt = ThreadLocalRandom.current().nextInt(100); until - System.nanoTime() > 0; attempt++) {
            try {
                if (isKnown(key, send(key, attempt))) {
                    return;
                }
            } catch (IOException e) {
                disconnected.incrementAndGet();
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        throw new AssertionError(key + " was never settled");
    }

    private boolean isKnown(String key, HttpResponse<String> response) {
        String kind = response.statusCode() + kindOf(response.body());
        kinds.add(kind);
        if (response.statusCode() == 201) {
            receipts.put(key, response.body());
            if (response.headers().firstValue("Hapax-Recorded").isPresent()) {
                unrecorded.add(key);
            }
            return true;
        }
        if (kind.equals("409 in-doubt")) {
            inDoubt.add(key);
            return true;
        }
        return false;
    }

    private HttpResponse<String> send(String key, int attempt) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(gateways.apply(attempt))
                .timeout(Duration.ofSeconds(30))
                .header("Idempotency-Key", '"' + key + '"')
                .header("Content-Type", "application/json")
                .header("Delay-Ms", Integer.toString(50 + Math.floorMod(key.hashCode(), 100)))
                .POST(HttpRequest.BodyPublishers.ofString("{\"amount\":7998,\"for\":\"%s\"}".formatted(key)))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static String kindOf(String body) {
        String type = "urn:hapax:problem:";
        int at = body.indexOf(type);
        return at < 0 ? "" : " " + body.substring(at + type.length(), body.indexOf('"', at));
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
