package dev.hapax.examples;

import dev.hapax.gateway.RunningGateway;
import dev.hapax.gateway.Screen;
import dev.hapax.store.OperationKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the demo prints: where things are, and what to try. */
final class DemoScreen {
    private static final String CHARGE = "{\"amount\":7998,\"currency\":\"usd\",\"customer\":\"cus_123\"}";

    private final Screen screen;
    private final String charges;
    private final String gateway;

    DemoScreen(Screen screen, int port) {
        this.screen = screen;
        this.gateway = "http://localhost:" + port;
        this.charges = "curl -i " + gateway + "/v1/charges";
    }

    void show(RunningGateway running, PaymentsApi api, DemoData files) {
        screen.title("Hapax: run it once, answer every retry.");
        screen.facts(facts(running, api, files));
        screen.line("");
        screen.line("Try it, in another terminal:");
        step("charge a card", "201: it runs", charge("order-1", CHARGE));
        step(
                "the same again: a retry",
                "the same 201, Idempotent-Replayed: true; nothing runs",
                charge("order-1", CHARGE));
        step("the same key for another amount", "422", charge("order-1", CHARGE.replace("7998", "1")));
        step("no key", "400", charges + " -d '" + CHARGE + "'");
        step(
                "two at once, three seconds each",
                "one 201, and 409 with Retry-After for the other",
                "for i in 1 2; do " + charge("order-2", CHARGE) + " -H 'Demo-Delay-Ms: 3000' & done; wait");
        step(
                "the connection breaks after the charge",
                "409 in-doubt: nobody knows, so nothing is charged twice",
                charge("order-3", CHARGE) + " -H 'Demo-Hangup: true'");
        step("what was really charged", "each order once", "curl " + gateway + "/v1/charges");
        step(
                "what became of the first one",
                "its state and its answer",
                "curl " + gateway + "/.hapax/operations/" + idOf("order-1"));
        screen.line("");
        screen.line("Ctrl-C stops everything. Start it again, and order-1 is still answered from the record;");
        screen.line("rm -r " + files.shown() + " forgets it.");
    }

    private Map<String, List<String>> facts(RunningGateway running, PaymentsApi api, DemoData files) {
        Map<String, List<String>> facts = new LinkedHashMap<>();
        facts.put("gateway", List.of(gateway));
        running.adminPort()
                .ifPresent(port -> facts.put(
                        "admin", List.of("http://localhost:%d/metrics  /health/live  /health/ready".formatted(port))));
        facts.put(
                "upstream",
                List.of("http://localhost:%d, the payments API, which does not know about retries"
                        .formatted(api.port())));
        facts.put("data", List.of(files.shown() + ", PostgreSQL's and what the payments API has executed"));
        facts.put(
                "routes", List.of("examples/demo.yaml: charges, transfers, webhooks, signups, invoices, slow-charges"));
        return facts;
    }

    private void step(String what, String answer, String command) {
        screen.line("");
        screen.line("  " + screen.bold("# " + what) + screen.dim("  → ") + screen.green(answer));
        screen.line("  " + command);
    }

    private String charge(String key, String body) {
        return "%s -H 'Idempotency-Key: \"%s\"' -d '%s'".formatted(charges, key, body);
    }

    private static String idOf(String key) {
        return new OperationKey("", "charges", key).id().toString();
    }
}
