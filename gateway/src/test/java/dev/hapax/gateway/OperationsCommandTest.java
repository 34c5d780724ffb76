package dev.hapax.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.Hapax;
import dev.hapax.OutcomeUnknownException;
import dev.hapax.Policy;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.http.Headers;
import dev.hapax.http.HttpIdempotency;
import dev.hapax.http.HttpPolicy;
import dev.hapax.http.HttpRequest;
import dev.hapax.http.HttpResponse;
import dev.hapax.http.KeySource;
import dev.hapax.http.Match;
import dev.hapax.http.Operation;
import dev.hapax.http.PathPattern;
import dev.hapax.http.Route;
import dev.hapax.http.Routes;
import dev.hapax.http.TenantSource;
import dev.hapax.http.Work;
import dev.hapax.postgres.PostgresSchema;
import dev.hapax.postgres.PostgresStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class OperationsCommandTest {
    private static final Headers NO_HEADERS = Headers.NONE;
    private static final HttpResponse CREATED = new HttpResponse(201, NO_HEADERS, new byte[] {1});

    private static EmbeddedPostgres server;
    private static HikariDataSource pool;
    private static Hapax hapax;
    private static Hapax otherHapax;
    private static HttpIdempotency http;
    private static HttpIdempotency otherHttp;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final String key = UUID.randomUUID().toString();
    private String id = "";

    @TempDir
    Path directory;

    @BeforeAll
    static void start() {
        server = EmbeddedPostgres.start();
        pool = new HikariDataSource();
        pool.setJdbcUrl(server.jdbcUrl());
        PostgresSchema.migrate(pool);
        hapax = newHapax();
        otherHapax = newHapax();
        http = newHttp(hapax);
        otherHttp = newHttp(otherHapax);
    }

    private static Hapax newHapax() {
        return Hapax.on(PostgresStore.over(pool))
                .scope("charges", Policy.payment())
                .build();
    }

    private static HttpIdempotency newHttp(Hapax hapax) {
        Route route = new Route(
                "POST", PathPattern.of("/charges"), "charges", KeySource.Header.DEFAULT, HttpPolicy.defaults());
        return new HttpIdempotency(hapax, new Routes(List.of(route)), new TenantSource.None());
    }

    @AfterAll
    static void stop() {
        hapax.close();
        otherHapax.close();
        pool.close();
        server.close();
    }

    @BeforeEach
    void anOperationIsInDoubt() {
        HttpResponse told = charge(
                operation -> CompletableFuture.failedFuture(new OutcomeUnknownException("the bank hung up", null)));
        assertThat(told.status()).isEqualTo(409);
        id = told.headers().first("Hapax-Operation-Id").orElseThrow();
    }

    @Test
    void whatIsInDoubtIsListed() {
        assertThat(run("list", "--state", "in-doubt", "--key", key)).isZero();

        assertThat(out.toString()).contains(id, "in-doubt", "charges", key);
    }

    @Test
    void whatHappenedToAnOperationIsShown() {
        assertThat(run("show", id)).isZero();

        assertThat(out.toString()).contains("created", "parked", "the bank hung up");
    }

    @Test
    void aReleasedOperationRunsAgain() {
        assertThat(run("release", id, "--why", "the bank never saw it", "--by", "operator"))
                .isZero();

        HttpResponse again = charge(
                operation -> CompletableFuture.completedFuture(new HttpResponse(201, NO_HEADERS, new byte[] {1})));
        assertThat(again.status()).isEqualTo(201);
        assertThat(run("show", id)).isZero();
        assertThat(out.toString()).contains("force released", "operator: the bank never saw it");
    }

    @Test
    void runningOperationIsReleasedOnlyWithItsToken() {
        run("release", id, "--why", "the bank never saw it");
        SlowBank bank = new SlowBank();
        CompletableFuture<HttpResponse> first = begin(http, bank);
        bank.begun.join();

        assertThat(run("release", id, "--why", "stuck")).isEqualTo(1);
        assertThat(err.toString()).contains("is running", "--token");
        assertThat(run("release", id, "--why", "stuck", "--token", shownToken()))
                .isZero();

        assertThat(charge(otherHttp, operation -> CompletableFuture.completedFuture(CREATED))
                        .status())
                .isEqualTo(201);
        bank.answer.complete(CREATED);
        assertThat(new String(first.join().body(), StandardCharsets.UTF_8)).contains("claim-lost");
    }

    @Test
    void secondReleaseDoesNotRevokeTheSuccessor() {
        run("release", id, "--why", "the bank never saw it");
        SlowBank bank = new SlowBank();
        CompletableFuture<HttpResponse> first = begin(http, bank);
        bank.begun.join();
        String token = shownToken();
        run("release", id, "--why", "stuck", "--token", token);
        SlowBank nextBank = new SlowBank();
        CompletableFuture<HttpResponse> next = begin(otherHttp, nextBank);
        nextBank.begun.join();

        assertThat(run("release", id, "--why", "stuck", "--token", token)).isEqualTo(1);
        assertThat(err.toString()).contains("is neither in doubt nor running with that token");

        nextBank.answer.complete(CREATED);
        assertThat(next.join().status()).isEqualTo(201);
        assertThat(next.join().headers().contains("Hapax-Recorded")).isFalse();
        bank.answer.complete(CREATED);
        first.join();
    }

    @Test
    void tokenThatIsNoneIsToldAsSuch() {
        assertThat(run("release", id, "--why", "stuck", "--token", "garbage")).isEqualTo(2);
        assertThat(err.toString()).contains("is not a token").doesNotContain("Exception");
    }

    @Test
    void aResolvedOperationAnswersWithWhatWasFoundOut() throws Exception {
        Path receipt = Files.writeString(directory.resolve("receipt.json"), "{\"id\":\"ch_1\"}");

        assertThat(run("resolve", id, "--status", "201", "--body", receipt.toString()))
                .isZero();

        HttpResponse again = charge(operation -> {
            throw new AssertionError("it ran");
        });
        assertThat(again.status()).isEqualTo(201);
        assertThat(new String(again.body(), StandardCharsets.UTF_8)).isEqualTo("{\"id\":\"ch_1\"}");
        assertThat(again.headers().first("Content-Type")).contains("application/json");
        assertThat(again.headers().first("Idempotent-Replayed")).contains("true");
    }

    @Test
    void whatIsNotInDoubtIsNotDecided() {
        run("resolve", id, "--status", "201");

        assertThat(run("resolve", id, "--status", "402")).isEqualTo(1);
        assertThat(err.toString()).contains("is not in doubt");
        assertThat(run("release", id, "--why", "again")).isEqualTo(1);
    }

    @Test
    void mistakesAreToldAsSuch() {
        assertThat(run("show", "garbage")).isEqualTo(2);
        assertThat(run("list", "--state", "lost")).isEqualTo(2);
        assertThat(run("list", "--older-than", "soon")).isEqualTo(2);
        assertThat(run("list", "--limit", "0")).isEqualTo(2);
        assertThat(run("resolve", id, "--status", "201", "--keep", "long")).isEqualTo(2);
        assertThat(run("resolve", id, "--status", "99")).isEqualTo(2);
        assertThat(run("show", UUID.randomUUID().toString())).isEqualTo(1);
        assertThat(err.toString()).doesNotContain("Exception");
    }

    /** Answers when the test says so. */
    private static final class SlowBank implements Work {
        final CompletableFuture<Void> begun = new CompletableFuture<>();
        final CompletableFuture<HttpResponse> answer = new CompletableFuture<>();

        @Override
        public CompletionStage<HttpResponse> run(Operation operation) {
            begun.complete(null);
            return answer;
        }
    }

    /** What {@code show} prints as the token of the owner. */
    private String shownToken() {
        assertThat(run("show", id)).isZero();
        return out.toString()
                .lines()
                .filter(line -> line.startsWith("running, token "))
                .reduce((earlier, last) -> last)
                .orElseThrow()
                .substring("running, token ".length());
    }

    private HttpResponse charge(Work work) {
        return charge(http, work);
    }

    private HttpResponse charge(HttpIdempotency gateway, Work work) {
        return begin(gateway, work).join();
    }

    private CompletableFuture<HttpResponse> begin(HttpIdempotency gateway, Work work) {
        HttpRequest request = new HttpRequest(
                "POST", "/charges", "", Headers.of("Idempotency-Key", '"' + key + '"'), new byte[0], null);
        Match match = gateway.match("POST", "/charges", request.headers()).orElseThrow();
        return gateway.run(match, request, work, Runnable::run).toCompletableFuture();
    }

    private int run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("operations"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--store", server.jdbcUrl(), "--upstream", "http://localhost:9000"));
        CommandLine line = HapaxCommand.commandLine(Map.of());
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(all.toArray(String[]::new));
    }
}
