package dev.hapax.gateway.proxy;

import static dev.hapax.gateway.proxy.RawUpstream.response;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.Policy;
import dev.hapax.WhenInFlight;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.KeySource;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Everybody sends the same at once. */
class StormTest {
    private static final int CLIENTS = 500;
    private static final int ROUNDS = 100;
    private static final Policy PARKING = Policy.defaults().whenAbandoned(WhenAbandoned.PARK);

    @Test
    void fiveHundredClientsWithOneKeyRunItOnceRoundAfterRound() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        List<RawClient> clients = new ArrayList<>();
        try (RawUpstream upstream = RawUpstream.answering(request -> response("201 Created", request.text()));
                TestGateway gateway = TestGateway.before(upstream.uri())
                        .store(TestPostgres.store())
                        .route(route("/charges", "storm.reject"), PARKING)
                        .route(
                                route("/waiting", "storm.wait"),
                                PARKING.whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(30))))
                        .start()) {
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(new RawClient(gateway));
            }
            for (int round = 0; round < ROUNDS; round++) {
                boolean waits = round % 2 == 1;
                List<Message> answers = storm(threads, clients, waits ? "/waiting" : "/charges");

                assertThat(upstream.requests()).hasSize(round + 1);
                assertThat(answers).filteredOn(StormTest::ran).hasSize(1);
                assertThat(answers)
                        .allMatch(answer -> ran(answer) || replayed(answer) || (!waits && inProgress(answer)));
            }
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
            threads.shutdownNow();
        }
    }

    private static Route route(String path, String scope) {
        return new Route("POST", PathPattern.of(path), scope, KeySource.Header.DEFAULT, HttpPolicy.defaults());
    }

    private static List<Message> storm(ExecutorService threads, List<RawClient> clients, String path) throws Exception {
        String key = UUID.randomUUID().toString();
        String request = "POST " + path + " HTTP/1.1\r\nHost: h\r\nIdempotency-Key: " + key
                + "\r\nContent-Length: 36\r\n\r\n" + key;
        List<Future<Message>> answers = IntStream.range(0, clients.size())
                .mapToObj(i -> threads.submit(() -> clients.get(i).send(request).read()))
                .toList();
        List<Message> all = new ArrayList<>();
        for (Future<Message> answer : answers) {
            all.add(answer.get());
        }
        assertThat(all)
                .filteredOn(answer -> answer.status() == 201)
                .allMatch(answer -> answer.text().equals(key));
        return all;
    }

    private static boolean ran(Message answer) {
        return answer.status() == 201 && !answer.headers().contains("Idempotent-Replayed");
    }

    private static boolean replayed(Message answer) {
        return answer.status() == 201 && answer.header("Idempotent-Replayed").equals("true");
    }

    private static boolean inProgress(Message answer) {
        return answer.status() == 409 && answer.text().contains("urn:hapax:problem:in-progress");
    }
}
