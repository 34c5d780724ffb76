package dev.hapax.examples.orders;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

/**
 * People who order, and do not trust the network: every order is sent at least twice, every third one twice at the same
 * time, and whatever is not answered with success is sent again.
 */
final class Clients implements AutoCloseable {
    private static final int PEOPLE = 8;
    private static final int MOST_TRIES = 200;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final URI charges;
    private final Tally tally;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final ExecutorService people = pool("client", PEOPLE);
    private final ExecutorService hands = pool("client-hand", 2 * PEOPLE);

    Clients(URI charges, Tally tally) {
        this.charges = charges;
        this.tally = tally;
    }

    private static ExecutorService pool(String name, int threads) {
        return Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Places the orders 1, 2, 3…, and returns when each was answered every time. */
    void order(int howMany) throws InterruptedException, ExecutionException {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 1; i <= howMany; i++) {
            int number = i;
            tasks.add(() -> {
                order(number, number % 3 == 0 ? 2 : 1, 1 + number % 2);
                return null;
            });
        }
        for (Future<Void> each : people.invokeAll(tasks)) {
            each.get();
        }
    }

    /** At once is a double click; afterwards is somebody who goes back in the browser. */
    private void order(int number, int atOnce, int afterwards) throws Exception {
        Set<String> answers = new HashSet<>();
        List<Callable<String>> together = new ArrayList<>();
        for (int i = 0; i < atOnce; i++) {
            together.add(() -> send(number));
        }
        for (Future<String> answer : hands.invokeAll(together)) {
            answers.add(answer.get());
        }
        for (int i = 0; i < afterwards; i++) {
            answers.add(send(number));
        }
        tally.answersThatDiffer.add(answers.size() - 1L);
    }

    /** Sends a charge until it succeeds. */
    private String send(int number) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(charges)
                .timeout(PATIENCE)
                .header("Idempotency-Key", "order-" + number)
                .POST(BodyPublishers.ofString(
                        "{\"customer\":\"customer-%d@example.org\",\"amount\":%d}".formatted(number, 100 + number)))
                .build();
        for (int i = 0; i < MOST_TRIES; i++) {
            tally.requests.increment();
            try {
                HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
                if (answer.statusCode() == 201) {
                    return answer.body();
                }
            } catch (IOException lost) {
                // No answer says nothing about what was done: the same request again will tell.
            }
            Thread.sleep(ThreadLocalRandom.current().nextInt(5, 30));
        }
        throw new IOException("order %d was not answered in %d tries".formatted(number, MOST_TRIES));
    }

    @Override
    public void close() {
        people.shutdownNow();
        hands.shutdownNow();
    }
}
